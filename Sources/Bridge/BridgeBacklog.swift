import Core

/// The messages of emitters that a node has received and that may not be published yet.
///
/// Every node receives all messages, and the node of the last ``BridgeMark`` publishes them. The others keep them until
/// a mark says that they are published. When the publishing node ends, the next one publishes what it has kept, with
/// the same ids, so that an event that was published already is a duplicate. Pure: times are monotonic milliseconds.
struct BridgeBacklog {
    /// A message that is to be published.
    struct Entry {
        /// Its number on this node.
        let number: Int
        /// The mark before it and the number of messages since: the same on every node.
        let id: [UInt8]
        /// The channel on which it arrived.
        let channel: [UInt8]
        /// The message; empty once it is settled.
        fileprivate(set) var payload: [UInt8]
        /// Whether it was tried before.
        fileprivate(set) var isRepeated = false
        fileprivate let receivedMs: Int
        fileprivate var state = State.waiting
        fileprivate var bytes: Int { payload.count + channel.count + BridgeBacklog.entryBytes }
    }

    fileprivate enum State {
        case waiting
        case underWay
        case settled
    }

    private var entries: [Entry] = []
    /// The number of the first entry.
    private var first = 0
    /// The number of the next entry to publish; all before it were handed out.
    private var cursor = 0
    /// The marks since the oldest entry, and the number of the entry that follows each.
    private var marks: [(tag: [UInt8], number: Int)] = []
    /// The last mark; `nil` while none has arrived by the present link.
    private var tag: [UInt8]?
    /// Messages since the last mark.
    private var index = 0
    private var bytes = 0
    private var underWay = 0
    /// The turn of the last entry that was handed out, and the bytes of that turn's entries.
    private var turn = (id: Int.min, bytes: 0)
    /// Messages since the link was made that came before its first mark, and so have no name.
    private var unnamed = 0
    /// Messages that made room for others, and that no mark has told to be published.
    private var forgotten = 0
    /// The time of the last mark, as far as it proves that the lease was held then.
    private var markMs = Int.min
    private let bytesMax: Int
    /// Whether this node publishes what arrives.
    private(set) var isHolder = false

    /// Whether the last answer of ``next(nowMs:turn:)`` was `nil` because the turn had enough.
    private(set) var isTurnOver = false

    /// The most entries that are being published at a time.
    private static let underWayMax = 512
    /// Bytes of entries after which a turn takes no further one, with 256 for each: some 2 ms of work.
    static let turnBytesMax = 32_768
    /// Counted for an entry beside its bytes.
    private static let entryBytes = 256
    /// The most marks that are kept.
    private static let marksMax = 1_024
    /// Milliseconds after its last mark in which the holder publishes: a later one may have an heir already, whose
    /// ids are forgotten some day.
    static let markedMs = 5_000

    /// `bytesMax` bounds the entries with 256 bytes for each.
    init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// Whether messages can be named: a mark has arrived by the present link.
    var isMarked: Bool { tag != nil }

    /// Number of entries that are not published as far as this node knows.
    var count: Int { entries.reduce(0) { $0 + ($1.state == .settled ? 0 : 1) } }

    // MARK: Inputs

    /// The link was lost: messages are missing, and what follows has no name before the next mark.
    mutating func lost() {
        tag = nil
        isHolder = false
    }

    /// Takes a mark that was sent at a time; `own` is this node's name.
    ///
    /// Returns how many messages are lost: nobody publishes those that the node which begins to publish has no more.
    mutating func mark(_ mark: BridgeMark, own: [UInt8], sentMs: Int) -> Int {
        markMs = max(markMs, sentMs)
        (tag, index) = (mark.tag, 0)
        if marks.count == BridgeBacklog.marksMax { marks.removeFirst(BridgeBacklog.marksMax / 2) }
        marks.append((mark.tag, first + entries.count))
        let begins = mark.node == own && !isHolder
        isHolder = mark.node == own
        if begins { cursor = first }
        defer { unnamed = 0 }
        guard !isHolder else {
            defer { forgotten = 0 }
            return begins ? unnamed + forgotten : 0
        }
        if let done = marks.first(where: { $0.tag == mark.done }) {
            if done.number >= first { forgotten = 0 }
            drop(before: done.number)
        }
        return 0
    }

    /// Takes a message; false when there is no room for it, and it is lost.
    ///
    /// A node that only keeps messages makes room by forgetting the oldest.
    mutating func receive(_ channel: [UInt8], _ payload: [UInt8], nowMs: Int) -> Bool {
        guard let tag else {
            unnamed += 1
            return true
        }
        index += 1
        var id = tag + [UInt8(ascii: ".")]
        id.append(decimal: index)
        let entry = Entry(
            number: first + entries.count, id: id, channel: channel, payload: payload, receivedMs: nowMs)
        while !isHolder, bytes + entry.bytes > bytesMax, !entries.isEmpty {
            let count = max(1, entries.count / 4)
            forgotten += entries.prefix(count).count { $0.state != .settled }
            drop(before: first + count)
        }
        guard bytes + entry.bytes <= bytesMax else { return false }
        bytes += entry.bytes
        entries.append(entry)
        return true
    }

    /// An entry was published or refused for good, or is to be tried again.
    mutating func settle(_ number: Int, again: Bool) {
        underWay -= 1
        guard number >= first, number - first < entries.count else { return }
        let place = number - first
        entries[place].state = again ? .waiting : .settled
        entries[place].isRepeated = true
        guard !again else { return }
        // Its place is kept as long as one before it waits, and its bytes are not.
        bytes -= entries[place].payload.count
        entries[place].payload = []
    }

    // MARK: Actions

    /// The next entry to publish, for which ``settle(_:again:)`` is called later.
    ///
    /// `nil` when there is none, many are under way, or the last mark is so old that another node may have begun. Also
    /// `nil` when the turn of the loop, which `turn` names, has taken ``turnBytesMax``: then ``isTurnOver`` is set.
    mutating func next(nowMs: Int, turn id: Int) -> Entry? {
        if turn.id != id { turn = (id, 0) }
        isTurnOver = false
        guard isHolder, underWay < BridgeBacklog.underWayMax, nowMs - markMs <= BridgeBacklog.markedMs else {
            return nil
        }
        while cursor - first < entries.count {
            let place = max(0, cursor - first)
            cursor = first + place + 1
            guard entries[place].state == .waiting else { continue }
            guard turn.bytes < BridgeBacklog.turnBytesMax else {
                cursor = first + place
                isTurnOver = true
                return nil
            }
            turn.bytes += entries[place].bytes
            entries[place].state = .underWay
            underWay += 1
            return entries[place]
        }
        return nil
    }

    /// Begins anew with the oldest entry that waits: some have failed.
    mutating func retry() { cursor = first }

    /// Forgets entries received before a time; returns how many of them this node should have published.
    mutating func expire(beforeMs: Int) -> Int {
        let old = entries.prefix { $0.receivedMs < beforeMs }
        let lost = isHolder ? old.reduce(0) { $0 + ($1.state == .settled ? 0 : 1) } : 0
        drop(before: first + old.count)
        return lost
    }

    /// The last mark before which everything is settled, `nil` when none is known; forgets entries before it.
    mutating func settledMark() -> [UInt8]? {
        drop(before: first + entries.prefix { $0.state == .settled }.count)
        return marks.last { $0.number <= first }?.tag
    }

    private mutating func drop(before number: Int) {
        let count = min(max(0, number - first), entries.count)
        for entry in entries.prefix(count) { bytes -= entry.bytes }
        entries.removeFirst(count)
        first += count
        // The last mark before the first entry stays: it is what is known to be done.
        if let last = marks.lastIndex(where: { $0.number <= first }) { marks.removeFirst(last) }
    }
}
