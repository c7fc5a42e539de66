/// Walks over the records of an event stream in place, in the chunks that TLS delivers (WHATWG HTML, section 9.2).
///
/// A record ends with an empty line. Lines end with a line feed alone, as the gateway writes them. Only a record that a
/// chunk cuts is copied, until it is whole.
struct RecordWalker {
    /// The result of a step.
    enum Step: Equatable {
        /// A record without its empty line; it lies in the chunk, or, when it was cut, in ``RecordWalker/carried``.
        case record(Range<Int>, isCarried: Bool)
        /// The chunk is used up.
        case more
        /// A record is longer than any that the gateway sends.
        case failed
    }

    /// A record cut by chunks: the part received so far.
    private(set) var carried: [UInt8] = []
    /// Whether `carried` was returned whole and can be dropped.
    private var isCarriedDone = false

    private static let feed = UInt8(ascii: "\n")

    /// The next record of the chunk from `position` on; `position` moves behind it.
    ///
    /// Until ``Step/more`` the next call must pass the same chunk.
    @inline(__always) mutating func next(_ chunk: Span<UInt8>, at position: inout Int) -> Step {
        if isCarriedDone {
            carried.removeAll(keepingCapacity: true)
            isCarriedDone = false
        }
        if !carried.isEmpty { return carryOn(chunk, at: &position) }
        let start = position
        if let end = RecordWalker.emptyLine(chunk, from: start) {
            position = end &+ 2
            return .record(start..<end, isCarried: false)
        }
        carry(chunk, at: &position, upTo: chunk.count)
        return .more
    }

    /// Completes the carried record.
    @inline(never) private mutating func carryOn(_ chunk: Span<UInt8>, at position: inout Int) -> Step {
        guard position < chunk.count else { return .more }
        // The chunk may have been cut between the two line feeds.
        var end = position
        if carried.last == RecordWalker.feed, chunk[position] == RecordWalker.feed {
            end = position + 1
        } else if let found = RecordWalker.emptyLine(chunk, from: position) {
            end = found + 2
        } else {
            carry(chunk, at: &position, upTo: chunk.count)
            return carried.count <= FrameWalker.payloadBytesMax ? .more : .failed
        }
        carry(chunk, at: &position, upTo: end)
        isCarriedDone = true
        return .record(0..<carried.count - 2, isCarried: true)
    }

    @inline(never) private mutating func carry(_ chunk: Span<UInt8>, at position: inout Int, upTo end: Int) {
        carried.reserveCapacity(carried.count + end - position)
        for index in position..<end { carried.append(chunk[index]) }
        position = end
    }

    /// The index of the next two consecutive line feeds; eight bytes are checked together, as records are mostly data.
    @inline(__always) static func emptyLine(_ chunk: Span<UInt8>, from start: Int) -> Int? {
        let bytes = unsafe chunk.bytes
        var index = start
        while index &+ 9 <= chunk.count {
            // Both words are within the chunk. A byte of either is 0 where it is a line feed.
            let word = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self)
            let feeds = UInt64(littleEndian: word) ^ 0x0a0a_0a0a_0a0a_0a0a
            if (feeds &- 0x0101_0101_0101_0101) & ~feeds & 0x8080_8080_8080_8080 == 0 {
                index &+= 8
                continue
            }
            for at in index..<index &+ 8 where chunk[at] == feed && chunk[at &+ 1] == feed { return at }
            index &+= 8
        }
        while index &+ 2 <= chunk.count {
            if chunk[index] == feed, chunk[index &+ 1] == feed { return index }
            index &+= 1
        }
        return nil
    }
}
