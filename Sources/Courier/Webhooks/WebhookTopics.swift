import Core

/// The order in which one receiver's topics are served; pure.
///
/// A topic is in work once at a time. A report during that work makes it due again. Times are monotonic milliseconds.
struct WebhookTopics {
    private let countMax: Int
    private var waiting = Ring<Topic>()
    private var known: Set<Topic> = []
    private var busy: [Topic: Bool] = [:]
    private var later: [Topic: Int] = [:]
    /// The time at which the first delayed topic is due; may be too early.
    private var laterMs = Int.max
    /// Whether more topics were reported than are remembered, so that all topics have to be scanned.
    private(set) var isIncomplete = false

    /// Remembers `countMax` topics at most.
    init(countMax: Int) {
        self.countMax = countMax
    }

    /// Topics in work.
    var busyCount: Int { busy.count }
    /// Topics that wait in the queue or for a time.
    var waitingCount: Int { known.count + later.count }
    /// The time of the next action that only time causes.
    var nextMs: Int { laterMs }

    /// An event was published on a topic.
    mutating func noted(_ topic: Topic) {
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

    /// The work on a topic ended; with `againMs` it continues at that time.
    mutating func ended(_ topic: Topic, againMs: Int? = nil) {
        let wasTold = busy.removeValue(forKey: topic) ?? false
        if let againMs, known.count + later.count < countMax {
            later[topic] = againMs
            laterMs = min(laterMs, againMs)
        } else if wasTold || againMs != nil {
            wait(topic)
        }
    }

    /// Makes all delayed topics due now.
    mutating func wake() {
        for topic in later.keys { wait(topic) }
        later = [:]
        laterMs = Int.max
    }

    /// A scan of all topics is about to begin.
    mutating func complete() {
        isIncomplete = false
    }
}
