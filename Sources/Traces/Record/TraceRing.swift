import Core

/// Entries of a bounded time within a bounded number of bytes, oldest first; beyond either bound the oldest go.
///
/// Entries lie in blocks of bytes, so that an entry costs no object of its own. Pure: time is a parameter, monotonic
/// milliseconds.
struct TraceRing {
    private struct Block {
        let startMs: Int
        var lastMs: Int
        var bytes: [UInt8]
    }

    /// The place and the head of an entry.
    struct Head {
        let kind: TraceEntry.Change.Kind
        let session: UInt32
        let atMs: Int
        /// The content, in the bytes of its block.
        let content: Range<Int>
    }

    private var blocks: [Block] = []
    private let blockBytes: Int
    private let blocksMax: Int
    private let keepMs: Int
    /// The time from which on nothing is missing, monotonic milliseconds.
    private(set) var sinceMs: Int
    /// The number of the first block, counted from the beginning of the record.
    private(set) var firstBlock = 0

    /// Bytes of length, kind, time and session before the content.
    private static let headBytes = 11
    private static let blockBytesMax = 65_536
    private static let blockBytesMin = 2_048
    /// A block is closed after this part of the time that entries are kept, so that a quiet ring forgets, too.
    private static let blocksInTime = 6

    /// Keeps entries for `keepMs` in at most `bytesMax` bytes; 0 keeps nothing.
    init(bytesMax: Int, keepMs: Int, nowMs: Int) {
        blockBytes = min(max(bytesMax / 8, TraceRing.blockBytesMin), TraceRing.blockBytesMax)
        blocksMax = bytesMax > 0 ? max(bytesMax / blockBytes, 1) : 0
        self.keepMs = keepMs
        sinceMs = nowMs
    }

    /// Whether it keeps anything.
    var isOn: Bool { blocksMax > 0 }

    /// Bytes that the blocks take.
    var byteCount: Int { blocks.count * blockBytes }

    // MARK: Writing

    /// Adds an entry; one that is larger than a block is left out.
    mutating func append(_ entry: TraceEntry) {
        guard isOn else { return }
        if let last = blocks.last, entry.atMs - last.startMs < keepMs / TraceRing.blocksInTime,
            write(entry, into: blocks.count - 1)
        {
            return
        }
        begin(entry.atMs)
        if !write(entry, into: blocks.count - 1) { blocks.removeLast() }
    }

    private mutating func begin(_ nowMs: Int) {
        forget(nowMs: nowMs)
        while blocks.count >= blocksMax { dropFirst() }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(blockBytes)
        blocks.append(Block(startMs: nowMs, lastMs: nowMs, bytes: bytes))
    }

    private mutating func write(_ entry: TraceEntry, into block: Int) -> Bool {
        var writer = TraceWriter(bytes: [])
        swap(&writer.bytes, &blocks[block].bytes)
        defer { swap(&writer.bytes, &blocks[block].bytes) }
        let start = writer.bytes.count
        writer.bytes.append(contentsOf: [0, 0, entry.change.kind.rawValue])
        let delta = UInt32(clamping: entry.atMs - blocks[block].startMs)
        for shift in stride(from: 0, to: 32, by: 8) { writer.bytes.append(UInt8(truncatingIfNeeded: delta >> shift)) }
        for shift in stride(from: 0, to: 32, by: 8) {
            writer.bytes.append(UInt8(truncatingIfNeeded: entry.session >> shift))
        }
        entry.change.append(to: &writer)
        let count = writer.bytes.count - start
        guard writer.bytes.count <= blockBytes, count <= Int(UInt16.max) else {
            writer.bytes.removeLast(count)
            return false
        }
        writer.bytes[start] = UInt8(truncatingIfNeeded: count)
        writer.bytes[start + 1] = UInt8(truncatingIfNeeded: count >> 8)
        blocks[block].lastMs = max(entry.atMs, blocks[block].lastMs)
        return true
    }

    /// Drops what is too old.
    mutating func forget(nowMs: Int) {
        while let first = blocks.first, nowMs - first.lastMs >= keepMs { dropFirst() }
    }

    private mutating func dropFirst() {
        sinceMs = max(sinceMs, blocks.removeFirst().lastMs)
        firstBlock += 1
    }

    // MARK: Reading

    /// The number of blocks, which a search reads one after another.
    var blockCount: Int { blocks.count }

    /// Calls `body` with the head and the block's bytes of each entry of a block that is not too old, oldest first.
    func scan(_ index: Int, nowMs: Int, _ body: (Head, [UInt8]) -> Void) {
        let block = blocks[index]
        guard nowMs - block.lastMs < keepMs else { return }
        visit(index) { head, bytes in
            if nowMs - head.atMs < keepMs { body(head, bytes) }
        }
    }

    /// Calls `body` for each entry of a block, however old.
    func visit(_ index: Int, _ body: (Head, [UInt8]) -> Void) {
        let block = blocks[index]
        TraceRing.scan(block.bytes, startMs: block.startMs) { body($0, block.bytes) }
    }

    private static func scan(_ bytes: [UInt8], startMs: Int, _ body: (Head) -> Void) {
        var start = 0
        while start + headBytes <= bytes.count {
            let count = Int(bytes[start]) | Int(bytes[start + 1]) << 8
            guard count >= headBytes, start + count <= bytes.count else { return }
            if let kind = TraceEntry.Change.Kind(rawValue: bytes[start + 2]), kind != .erased {
                let head = Head(
                    kind: kind, session: number(bytes, start + 7), atMs: startMs + Int(number(bytes, start + 3)),
                    content: (start + headBytes)..<(start + count))
                body(head)
            }
            start += count
        }
    }

    private static func number(_ bytes: [UInt8], _ start: Int) -> UInt32 {
        var number: UInt32 = 0
        for index in 0..<4 { number |= UInt32(bytes[start + index]) << (8 * UInt32(index)) }
        return number
    }

    // MARK: Erasing

    /// Blanks every entry of a block that `isErased`.
    mutating func erase(_ index: Int, _ isErased: (Head, [UInt8]) -> Bool) {
        var places: [Range<Int>] = []
        visit(index) { head, bytes in
            if isErased(head, bytes) { places.append((head.content.lowerBound - 9)..<head.content.upperBound) }
        }
        // The length before each place stays, so that the entries behind it are found.
        for place in places { for byte in place { blocks[index].bytes[byte] = 0 } }
    }
}

extension TraceRing.Head {
    /// Whether the content begins with this text: the topic, or the user of `named`.
    func begins(with text: [UInt8], in bytes: [UInt8]) -> Bool { has(text, at: content.lowerBound, in: bytes) }

    /// Whether it opened or named a session of that user.
    func names(_ user: [UInt8], in bytes: [UInt8]) -> Bool {
        switch kind {
        case .named: begins(with: user, in: bytes)
        case .opened:
            bytes[content.lowerBound] == TraceEntry.Caller.user.rawValue
                && has(user, at: content.lowerBound + 1, in: bytes)
        default: false
        }
    }

    /// Whether it opened a session of a client at that address.
    func isOpened(from address: IPAddress, in bytes: [UInt8]) -> Bool {
        let name = content.lowerBound + 1
        guard name < content.upperBound else { return false }
        return has(address.bytes, at: name + 1 + Int(bytes[name]), in: bytes)
    }

    private func has(_ text: [UInt8], at start: Int, in bytes: [UInt8]) -> Bool {
        guard start < content.upperBound, Int(bytes[start]) == text.count,
            start + 1 + text.count <= content.upperBound
        else { return false }
        for index in text.indices where bytes[start + 1 + index] != text[index] { return false }
        return true
    }
}
