import Core

/// The last known positions of many topics: a map that drops entries not used for long.
struct KnownPositions {
    /// The known state of a topic.
    struct Entry: Equatable {
        /// The highest position of the epoch reported last.
        var position: Position
        /// Number of events published through this shard.
        var published = 0
    }

    /// The topic of the last answer, and its time in monotonic milliseconds.
    private(set) var latest: (topic: Topic, atMs: Int)?

    private let half: Int
    /// Recently used; when it is full it becomes the older half, and the previous older half is dropped.
    private var young: [Topic: Entry] = [:]
    private var old: [Topic: Entry] = [:]

    /// Keeps at least half of `capacity` topics, and never more than `capacity`.
    init(capacity: Int) {
        half = max(1, capacity / 2)
    }

    subscript(topic: Topic) -> Entry? { young[topic] ?? old[topic] }

    /// Takes a position from an answer, and the number of the topic's events that it reports as published here.
    mutating func add(_ topic: Topic, _ position: Position, published: Int = 0, nowMs: Int = 0) {
        latest = (topic, nowMs)
        if let index = young.index(forKey: topic) {
            KnownPositions.update(&young.values[index], position, published)
            return
        }
        var entry = old[topic] ?? Entry(position: position)
        KnownPositions.update(&entry, position, published)
        if young.count >= half { (old, young) = (young, [:]) }
        young[topic] = entry
    }

    private static func update(_ entry: inout Entry, _ position: Position, _ published: Int) {
        entry.published += published
        // Answers of one epoch may overtake each other; another epoch replaces the known position.
        if entry.position.epoch != position.epoch || entry.position.offset < position.offset {
            entry.position = position
        }
    }
}
