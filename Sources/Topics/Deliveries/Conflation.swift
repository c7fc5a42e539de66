public import Core

/// Decides which of the events that wait for one client give way to newer ones, and where a gap must be reported.
///
/// Of each key the newest event stays. This may leave a hole among the positioned events of a topic. A gap in the place
/// of the hole's last event then reports it. So the client's rule holds: every event's offset is one more than that of
/// the event, or gap, before it. Pure.
public enum Conflation: Sendable {
    /// A waiting entry of a topic.
    public struct Waiting: Sendable {
        /// The topic whose order of offsets must stay provable.
        public let topic: Topic
        /// Its position in the log; `nil` for a plain publish.
        public let position: Position?
        /// The key that a newer event must share to replace it; `nil` for an event that stays.
        public let key: ConflationKey?
        /// Whether it is the gap of a hole that an earlier thinning left.
        public var isGap = false
        /// Whether it always stays: partly written, of a recovery backlog, or of a topic that may lose nothing.
        public var isFixed = false

        /// An entry that a newer event of its key may replace; `nil` as `key` keeps it.
        public init(topic: Topic, position: Position?, key: ConflationKey?, isGap: Bool = false, isFixed: Bool = false)
        {
            self.topic = topic
            self.position = position
            self.key = key
            self.isGap = isGap
            self.isFixed = isFixed
        }
    }

    /// The decision on a waiting entry.
    public enum Fate: Equatable, Sendable {
        case keep
        case drop
        /// A gap up to that position takes its place.
        case gap(Position)
    }

    /// The decisions on the waiting entries, oldest first; `nil` is an entry that belongs to no topic and stays.
    public static func fates(_ waiting: [Waiting?]) -> [Fate] {
        var fates = Array(repeating: Fate.keep, count: waiting.count)
        var newer: Set<ConflationKey> = []
        for index in waiting.indices.reversed() {
            guard let entry = waiting[index], let key = entry.key else { continue }
            if !newer.insert(key).inserted && !entry.isFixed { fates[index] = .drop }
        }
        var holes: [Topic: (last: Int, position: Position)] = [:]
        for index in waiting.indices {
            guard let entry = waiting[index], let position = entry.position else { continue }
            if entry.isGap && !entry.isFixed {
                fates[index] = .drop
                holes[entry.topic] = (index, position)
            } else if fates[index] == .drop {
                holes[entry.topic] = (index, position)
            } else if !holes.isEmpty, let hole = holes.removeValue(forKey: entry.topic) {
                tell(hole, waiting, &fates)
            }
        }
        for hole in holes.values { tell(hole, waiting, &fates) }
        return fates
    }

    /// Reports a hole with a gap; an earlier gap at its end covers it already.
    private static func tell(_ hole: (last: Int, position: Position), _ waiting: [Waiting?], _ fates: inout [Fate]) {
        fates[hole.last] = waiting[hole.last]?.isGap == true ? .keep : .gap(hole.position)
    }
}
