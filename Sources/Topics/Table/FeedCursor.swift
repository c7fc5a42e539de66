import Core

/// A shard's position in a topic: the number of the next event, and the verdict on each event received.
///
/// Pure. It decides for live members; ``JoinMerge`` serves joining clients. An event is delivered only when it follows
/// the last one. A hole is repaired from the log or reported, never skipped silently.
struct FeedCursor: Equatable {
    /// The decision on an event.
    enum Verdict: Equatable {
        /// Deliver it to the live members.
        case deliver
        /// It was received before, or belongs to an ended epoch.
        case ignore
        /// Keep it: a repair is under way, and the event follows the result.
        case hold
        /// Keep it and read the log after this position.
        ///
        /// Events are missing, or the event is of another epoch. Only the log knows whether that epoch is new or long
        /// over.
        case repair(after: Position)
    }

    /// State of the order.
    private enum State: Equatable {
        /// No position: no member receives events.
        case unknown
        /// The live members have received everything up to this position.
        case live(Position)
        /// Events are missing after this position, and a repair fetches them.
        case repairing(after: Position)
    }

    private var state = State.unknown
    /// The epoch before the current one; its late events are dropped without asking the log.
    private var retiredEpoch: [UInt8]?

    /// The position of the last event that the live members received; `nil` while there is none.
    var position: Position? {
        switch state {
        case .unknown: nil
        case .live(let position), .repairing(let position): position
        }
    }

    /// Whether a repair is under way.
    var isRepairing: Bool {
        if case .repairing = state { true } else { false }
    }

    /// Takes an event with a position.
    mutating func received(_ next: Position) -> Verdict {
        switch state {
        case .unknown: return .ignore
        case .repairing: return .hold
        case .live(let current):
            guard next.epoch != retiredEpoch else { return .ignore }
            if next.epoch == current.epoch {
                if next.offset <= current.offset { return .ignore }
                if next.offset - 1 == current.offset {
                    state = .live(next)
                    return .deliver
                }
            }
            state = .repairing(after: current)
            return .repair(after: current)
        }
    }

    /// Starts a repair because events may be missing; the position to repair after, `nil` when there is none.
    mutating func doubted() -> Position? {
        guard let position else { return nil }
        state = .repairing(after: position)
        return position
    }

    /// A repair has fetched events up to this position and continues.
    mutating func advanced(to reached: Position) {
        state = .repairing(after: reached)
    }

    /// A repair has ended with everything up to `top`, or cannot fetch more.
    mutating func repaired(to top: Position) {
        if let current = position, current.epoch != top.epoch { retiredEpoch = current.epoch }
        state = .live(top)
    }

    /// Starts over in an epoch that a read of the log reported first; returns its start, after which events are
    /// fetched.
    mutating func reset(to epoch: [UInt8]) -> Position? {
        guard let start = Position(epoch: epoch, offset: 0) else { return nil }
        if let current = position, current.epoch != epoch { retiredEpoch = current.epoch }
        state = .repairing(after: start)
        return start
    }

    /// Effect on the cursor of the position with which a joining client was answered.
    enum JoinMeaning: Equatable {
        /// There was no position, and this one is taken.
        case adopted
        /// The same epoch: the cursor stays, whether the client stands before, at or behind it.
        case same
        /// The epoch changed, and no event has shown it.
        ///
        /// The live members receive a `gap`, and the events after this position are fetched for them.
        case reset(Position)
        /// The answer is of an ended epoch; the client's read is repeated.
        case stale
    }

    /// Takes the position a joining client was answered with.
    mutating func joined(at answer: Position) -> JoinMeaning {
        guard let current = position else {
            state = .live(answer)
            return .adopted
        }
        if answer.epoch == current.epoch { return .same }
        if answer.epoch == retiredEpoch {
            // Answers arrive in the order of the reads: a repeated one is the current state of the log.
            retiredEpoch = nil
            return .stale
        }
        return reset(to: answer.epoch).map { .reset($0) } ?? .stale
    }

    /// Forgets the position, when the last member has left and the channel is given up.
    mutating func forget() {
        self = FeedCursor()
    }
}

/// Decides which events received during a join a client still has to receive.
enum JoinMerge {
    /// Whether an event received during the join follows the position with which the client was answered.
    ///
    /// Unpositioned events are always sent on: they are delivered at most once and were not in the answer.
    static func follows(_ event: Position?, _ answer: Position) -> Bool {
        guard let event else { return true }
        return event.epoch == answer.epoch && event.offset > answer.offset
    }
}
