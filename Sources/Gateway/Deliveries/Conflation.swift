import Core

/// Decides which of the events waiting for one client give way to newer ones, and where it must be told.
///
/// Of each key the newest event stays. A hole that this leaves among the positioned events of a topic is told by a gap
/// in the place of the last event of the hole, so that the client's rule holds: every event's offset is one more than
/// that of the event, or gap, before it. Pure.
enum Conflation {
    /// Something of a topic that waits.
    struct Waiting {
        let topic: Topic
        /// Its place in the log; `nil` for a plain publish.
        let position: Position?
        /// What a newer one must share to take its place; `nil` for an event that stays.
        let key: ConflationKey?
        /// Whether it tells of a hole that an earlier thinning left.
        var isGap = false
        /// Whether it stays in any case: begun, owed, or of a topic that loses nothing.
        var isFixed = false
    }

    /// What is to become of it.
    enum Fate: Equatable {
        case keep
        case drop
        /// A gap up to that position takes its place.
        case gap(Position)
    }

    /// The fates of what waits, oldest first; `nil` stands for what belongs to no topic and stays.
    static func fates(_ waiting: [Waiting?]) -> [Fate] {
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

    /// An earlier gap at the end of a hole says all that is to be said.
    private static func tell(_ hole: (last: Int, position: Position), _ waiting: [Waiting?], _ fates: inout [Fate]) {
        fates[hole.last] = waiting[hole.last]?.isGap == true ? .keep : .gap(hole.position)
    }
}
