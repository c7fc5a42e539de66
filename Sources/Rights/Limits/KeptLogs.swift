/// Bytes that callers keep in the logs of single topics, as far as this node has published them.
///
/// An event of a full log takes the place of an older one, so it adds the difference alone. The bytes that an event has
/// added are paid for the log's life after it, and each later event lengthens that life for what is there. A full table
/// forgets one of the logs that have been quiet for longest. Pure: time is a parameter, monotonic milliseconds.
struct KeptLogs<Key: Hashable & Sendable>: Sendable {
    /// The events of one caller, or of all, in one log.
    struct Entry: Sendable, Equatable {
        /// Bytes of the events that are there, by their mean where some have left.
        var bytes = 0
        /// The most bytes that were there with the topic's own, which is what was paid for.
        var paid = 0
        /// The events that are there.
        var events = 0
        /// When the last was published.
        var atMs = 0
        /// The unpaid remainder for longer lives, in bytes times milliseconds; less than a log's life.
        var owed = 0
    }

    /// The price of an event.
    struct Price: Sendable {
        /// Bytes that are kept for a log's life.
        let bytes: Int
        /// Those of them by which the log grows; the others pay for longer lives and for what is beside the log.
        let growth: Int
        /// The entry once the event is there.
        let after: Entry
    }

    private struct Slot: Sendable {
        var key: Key
        var entry: Entry
        var endsMs: Int
    }

    private let capacity: Int
    private var slots: [Slot] = []
    private var indexByKey: [Key: Int] = [:]
    private var hand = 0

    /// Makes an empty table of at most `capacity` entries, at least 1.
    init(capacity: Int) { self.capacity = max(1, capacity) }

    /// The price of an event.
    func price(_ key: Key, _ event: KeptEvent, nowMs: Int) -> Price {
        let lifeMs = event.seconds * 1_000
        var entry = Entry(atMs: nowMs)
        if let index = indexByKey[key], nowMs < slots[index].endsMs { entry = slots[index].entry }
        if entry.events >= event.eventsMax {
            entry.bytes -= entry.bytes / entry.events
            entry.events -= 1
        }
        entry.bytes = min(entry.bytes + event.bytes, max(event.bytes, event.bytesMax ?? KeptEvent.bytesMax))
        entry.events += 1
        // How much longer older events live. The products are greater than an integer.
        let elapsedMs = min(max(0, nowMs - entry.atMs), 2 * lifeMs)
        var (longer, owed) = lifeMs.dividingFullWidth(entry.paid.multipliedFullWidth(by: elapsedMs))
        owed += entry.owed + event.passing
        longer += owed / lifeMs
        entry.owed = owed % lifeMs
        let more = max(0, KeptEvent.topicBytes + entry.bytes - entry.paid)
        entry.paid += more
        entry.atMs = nowMs
        return Price(bytes: more + longer, growth: more, after: entry)
    }

    /// Notes what is there.
    mutating func note(_ key: Key, _ entry: Entry, seconds: Int) {
        // Redis keeps a log up to an eighth longer than it has to.
        let slot = Slot(key: key, entry: entry, endsMs: entry.atMs + seconds * 1_125)
        let index = indexByKey[key] ?? place(entry.atMs)
        if index < slots.count {
            indexByKey[slots[index].key] = nil
            slots[index] = slot
        } else {
            slots.append(slot)
        }
        indexByKey[key] = index
    }

    /// Takes back an event that never came into the log.
    ///
    /// The log stays as long as noted, since its longer life stays paid.
    mutating func takeBack(_ key: Key, _ event: KeptEvent, growth: Int) {
        guard let index = indexByKey[key] else { return }
        slots[index].entry.events = max(0, slots[index].entry.events - 1)
        slots[index].entry.bytes = max(0, slots[index].entry.bytes - event.bytes)
        slots[index].entry.paid = max(0, slots[index].entry.paid - growth)
    }

    /// A place for a new entry: that of one of a few whose life is over, behind all others, or that of the quietest of
    /// the few.
    private mutating func place(_ nowMs: Int) -> Int {
        guard !slots.isEmpty else { return 0 }
        var quietest = hand
        for _ in 0..<min(KeyedBuckets<Key>.examinedMax, slots.count) {
            hand = (hand + 1) % slots.count
            if slots[hand].endsMs <= nowMs { return hand }
            if slots[hand].entry.atMs < slots[quietest].entry.atMs { quietest = hand }
        }
        return slots.count < capacity ? slots.count : quietest
    }
}

/// An event, or the arguments of a command, that stays in Redis for a while.
public struct KeptEvent: Sendable {
    /// Bytes that Redis needs for an event beside its data, name and id.
    static let overheadBytes = 128
    /// The most bytes that one event, or one log, counts for.
    static let bytesMax = 1_099_511_627_776
    /// Bytes that Redis 7 takes for the log and the position of a topic, in which one small event has room: 4,600 with
    /// a short name, 5,000 with the longest.
    static let topicBytes = 5_120
    /// Bytes that Redis takes for the key of an id beside the names of topic, owner and id.
    private static let seenBytes = 200

    /// Bytes of Redis.
    let bytes: Int
    /// Events that the log keeps; an older one leaves for each further one.
    let eventsMax: Int
    /// Bytes that the log keeps; `nil`: as many as its events have.
    let bytesMax: Int?
    /// How long the log lives after its last event.
    let seconds: Int
    /// Data beside the log, which have a life of their own, in bytes times milliseconds.
    let passing: Int

    /// The same in bytes that are kept for a log's life, rounded down.
    var passingBytes: Int { passing / (seconds * 1_000) }

    /// An event with so many bytes of data, name and id.
    ///
    /// `seenBytes` are those of the names by which a retry is recognised for `seenSeconds`, 0 without an id.
    public init(bytes: Int, eventsMax: Int, bytesMax: Int?, seconds: Int, seenBytes: Int = 0, seenSeconds: Int = 0) {
        self.bytes = min(max(0, bytes), KeptEvent.bytesMax) + KeptEvent.overheadBytes
        self.eventsMax = max(1, eventsMax)
        self.bytesMax = bytesMax
        self.seconds = max(1, seconds)
        passing = seenBytes == 0 ? 0 : (seenBytes + KeptEvent.seenBytes) * seenSeconds * 1_000
    }
}
