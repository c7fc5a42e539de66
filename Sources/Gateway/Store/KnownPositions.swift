import Core

/// The last events of many topics that Redis has told of: a map that forgets what was not used for long.
struct KnownPositions {
    /// What is known of a topic.
    struct Entry: Equatable {
        /// The highest position of the epoch told last.
        var position: Position
        /// How many events were published here.
        var published = 0
    }

    /// The topic that an answer told of last, and when, monotonic milliseconds.
    private(set) var latest: (topic: Topic, atMs: Int)?

    private let half: Int
    /// Used lately; when it is full it becomes the older half, and what was that is forgotten.
    private var young: [Topic: Entry] = [:]
    private var old: [Topic: Entry] = [:]

    /// Remembers at least half of `capacity` topics, and never more than it.
    init(capacity: Int) {
        half = max(1, capacity / 2)
    }

    subscript(topic: Topic) -> Entry? { young[topic] ?? old[topic] }

    /// Takes the position that an answer told, and how many events of the topic it says were published here.
    mutating func add(_ topic: Topic, _ position: Position, published: Int = 0, nowMs: Int = 0) {
        latest = (topic, nowMs)
        var entry = self[topic] ?? Entry(position: position)
        entry.published += published
        // Answers of one epoch may overtake each other; another epoch replaces what was known.
        if entry.position.epoch != position.epoch || entry.position.offset < position.offset {
            entry.position = position
        }
        if young[topic] == nil && young.count >= half { (old, young) = (young, [:]) }
        young[topic] = entry
    }
}
