/// Bytes that callers keep in the logs of single topics, as far as this node has published them.
///
/// An event of a full log takes the place of an older one, so it adds the difference alone. The bytes that an event has added are paid
/// for the log's life after it, and each later event lengthens that life for what is there. Pure: time is a parameter,
/// monotonic milliseconds.
struct KeptLogs<Key: Hashable & Sendable>: Sendable {
    /// The events of one caller in one log.
    struct Entry: Sendable, Equatable {
        /// Bytes of the caller's events that are there, by their mean where some have left.
        var bytes = 0
        /// The most bytes that were there, which is what was paid for.
        var paid = 0
        /// The caller's events that are there.
        var events = 0
        /// When the caller published last.
        var atMs = 0
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

    /// Makes an empty table of at most `capacity` entries; what finds no place in it counts as new.
    init(capacity: Int) { self.capacity = capacity }

    /// The price of an event, in bytes that are kept for a log's life, and the entry afterwards.
    func price(_ key: Key, _ event: KeptEvent, nowMs: Int) -> (bytes: Int, after: Entry) {
        let lifeMs = event.seconds * 1_000
        var entry = Entry()
        if let index = indexByKey[key], nowMs < slots[index].endsMs { entry = slots[index].entry }
        let isNew = entry.events == 0
        if entry.events >= event.eventsMax {
            entry.bytes -= entry.bytes / entry.events
            entry.events -= 1
        }
        entry.bytes = min(entry.bytes + event.bytes, max(event.bytes, event.bytesMax ?? Int.max))
        entry.events += 1
        // How much longer the caller's older events live.
        let longer = isNew ? 0 : entry.paid * (nowMs - entry.atMs) / lifeMs
        let more = max(0, entry.bytes - entry.paid)
        entry.paid += more
        entry.atMs = nowMs
        return ((isNew ? KeptEvent.topicBytes : 0) + more + longer, entry)
    }

    /// Notes what is there.
    mutating func note(_ key: Key, _ entry: Entry, seconds: Int) {
        // Redis keeps a log up to an eighth longer than it has to.
        let slot = Slot(key: key, entry: entry, endsMs: entry.atMs + seconds * 1_125)
        guard let index = indexByKey[key] ?? place(entry.atMs) else { return }
        if index < slots.count {
            indexByKey[slots[index].key] = nil
            slots[index] = slot
        } else {
            slots.append(slot)
        }
        indexByKey[key] = index
    }

    /// A place for a new entry: behind all others, or that of one of a few whose life is over.
    private mutating func place(_ nowMs: Int) -> Int? {
        for _ in 0..<min(KeyedBuckets<Key>.examinedMax, slots.count) {
            hand = (hand + 1) % slots.count
            if slots[hand].endsMs <= nowMs { return hand }
        }
        return slots.count < capacity ? slots.count : nil
    }
}

/// An event, or what a command is told, that stays in Redis for a while.
public struct KeptEvent: Sendable {
    /// Bytes that Redis needs for an event beside its data.
    static let overheadBytes = 128
    /// The most bytes that one event counts for.
    private static let bytesMax = 1_099_511_627_776
    /// Bytes that Redis needs for the keys of a topic.
    static let topicBytes = 384

    /// Bytes of Redis.
    let bytes: Int
    /// Events that the log keeps; an older one leaves for each further one.
    let eventsMax: Int
    /// Bytes that the log keeps; `nil`: as many as its events have.
    let bytesMax: Int?
    /// How long the log lives after its last event.
    let seconds: Int

    /// An event with so many bytes of data.
    public init(bytes: Int, eventsMax: Int, bytesMax: Int?, seconds: Int) {
        self.bytes = min(max(0, bytes), KeptEvent.bytesMax) + KeptEvent.overheadBytes
        self.eventsMax = max(1, eventsMax)
        self.bytesMax = bytesMax
        self.seconds = max(1, seconds)
    }
}
