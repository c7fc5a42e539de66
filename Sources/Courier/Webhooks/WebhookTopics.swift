import Core

/// Which topics one receiver is to be told of next; pure.
///
/// A topic is worked on once at a time. What is told meanwhile is looked at again. Times are monotonic milliseconds.
struct WebhookTopics {
    private let countMax: Int
    private var waiting = Ring<Topic>()
    private var known: Set<Topic> = []
    private var busy: [Topic: Bool] = [:]
    private var later: [Topic: Int] = [:]
    /// When the first of those that wait for a time is due; may be too early.
    private var laterMs = Int.max
    /// Whether more was told than is remembered, so that all topics are to be looked through.
    private(set) var isIncomplete = false

    /// `countMax` topics are remembered.
    init(countMax: Int) {
        self.countMax = countMax
    }

    /// Topics that are worked on.
    var busyCount: Int { busy.count }
    /// Topics that wait for their turn or a time.
    var waitingCount: Int { known.count + later.count }
    /// When there is something to do for time alone.
    var nextMs: Int { laterMs }

    /// Something happened on a topic.
    mutating func told(_ topic: Topic) {
        if busy[topic] != nil {
            busy[topic] = true
        } else if later[topic] == nil {
            wait(topic)
        }
    }

    private mutating func wait(_ topic: Topic) {
        guard known.count + later.count < countMax else {
            isIncomplete = true
            return
        }
        if known.insert(topic).inserted { waiting.append(topic) }
    }

    /// The next topic to work on; then ``ended(_:againMs:)`` follows.
    mutating func next(nowMs: Int) -> Topic? {
        if laterMs <= nowMs { ripen(nowMs) }
        guard let topic = waiting.popFirst() else { return nil }
        known.remove(topic)
        busy[topic] = false
        return topic
    }

    private mutating func ripen(_ nowMs: Int) {
        let due = later.filter { $0.value <= nowMs }.sorted {
            ($0.value, $0.key.bytes.count) < ($1.value, $1.key.bytes.count)
        }
        for (topic, _) in due {
            later[topic] = nil
            wait(topic)
        }
        laterMs = later.values.min() ?? Int.max
    }

    /// The work on a topic ended; with `againMs` it goes on at that time.
    mutating func ended(_ topic: Topic, againMs: Int? = nil) {
        let wasTold = busy.removeValue(forKey: topic) ?? false
        if let againMs, known.count + later.count < countMax {
            later[topic] = againMs
            laterMs = min(laterMs, againMs)
        } else if wasTold || againMs != nil {
            wait(topic)
        }
    }

    /// Everything that waits for a time may go on now.
    mutating func wake() {
        for topic in later.keys { wait(topic) }
        later = [:]
        laterMs = Int.max
    }

    /// All topics are about to be looked through.
    mutating func complete() {
        isIncomplete = false
    }
}
