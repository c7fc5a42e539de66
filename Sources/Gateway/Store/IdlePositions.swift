import Core

/// When the positions of topics that nobody has published under are to be renewed.
///
/// Such a position lives for minutes only, or anybody could fill Redis by joining names. While a shard has members of the
/// topic it renews the position three times in that life. All wait equally long, so a queue in the order of arrival is one
/// in the order of need. Pure: time is a parameter, monotonic milliseconds.
struct IdlePositions {
    private let intervalMs: Int
    private var turns = Ring<(topic: Topic, dueMs: Int)>()
    private var queued: Set<Topic> = []

    /// Topics that may stay beyond twice those with members: looking through all costs more than they do.
    private static let slack = 1_024

    /// For positions that live `lifeSeconds` without being renewed.
    init(lifeSeconds: Int) {
        intervalMs = max(1, lifeSeconds * 1_000 / 3)
    }

    /// Topics looked after.
    var count: Int { queued.count }

    /// A read has found or made a position without events.
    mutating func add(_ topic: Topic, nowMs: Int) {
        guard queued.insert(topic).inserted else { return }
        turns.append((topic, nowMs + intervalMs))
    }

    /// Forgets what is not held any more, once that is most of it; members are on so many topics.
    ///
    /// A crowd that leaves would otherwise leave its topics here until their turn, and the heap's pages with them.
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

    /// At most `max` topics whose position is to be renewed now; those not `held` any more are forgotten.
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
