import Core

/// The schedule for renewing the positions of topics without any publish.
///
/// Such a position expires after minutes, or anyone could fill Redis by joining names. While a shard has members of the
/// topic, it renews the position three times in that life. All positions wait equally long, so a queue in the order of
/// arrival is one in the order of need. Pure: time is a parameter, monotonic milliseconds.
struct IdlePositions {
    private let intervalMs: Int
    private var turns = Ring<(topic: Topic, dueMs: Int)>()
    private var queued: Set<Topic> = []

    /// Topics that may stay beyond twice those with members: checking all costs more than they do.
    private static let slack = 1_024

    /// A schedule for positions that expire after `lifeSeconds` without renewal.
    init(lifeSeconds: Int) {
        intervalMs = max(1, lifeSeconds * 1_000 / 3)
    }

    /// Number of topics in the schedule.
    var count: Int { queued.count }

    /// Adds a topic: a read has found or created a position without events.
    mutating func add(_ topic: Topic, nowMs: Int) {
        guard queued.insert(topic).inserted else { return }
        turns.append((topic, nowMs + intervalMs))
    }

    /// Drops topics that are no longer `held`, once they are the majority; `topics` is the shard's number of topics.
    ///
    /// Otherwise the topics of a crowd that left would stay until their turn, and keep pages of the heap in use.
    mutating func thin(topics: Int, held: (Topic) -> Bool) {
        guard queued.count > 2 * topics + IdlePositions.slack else { return }
        var kept = Ring<(topic: Topic, dueMs: Int)>()
        var left: Set<Topic> = []
        while let turn = turns.popFirst() {
            guard held(turn.topic) else { continue }
            kept.append(turn)
            left.insert(turn.topic)
        }
        (turns, queued) = (kept, left)
    }

    /// At most `max` topics whose position has to be renewed now; those no longer `held` are dropped.
    mutating func due(nowMs: Int, max: Int, held: (Topic) -> Bool) -> [Topic] {
        var topics: [Topic] = []
        while topics.count < max, let first = turns.first, first.dueMs <= nowMs {
            _ = turns.popFirst()
            if held(first.topic) {
                topics.append(first.topic)
                turns.append((first.topic, nowMs + intervalMs))
            } else {
                queued.remove(first.topic)
            }
        }
        return topics
    }
}
