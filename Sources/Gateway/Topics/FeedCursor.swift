import Core

/// What a shard knows of a topic's order: which event comes next, and what to do with the one that came.
///
/// Pure. It decides for the members that are live; who joins is merged by ``JoinMerge``. An event is delivered only
/// when it follows the last one; a hole is repaired from the log or told, never passed over (design, sentence 4).
struct FeedCursor: Equatable {
    /// What to do with an event.
    enum Verdict: Equatable {
        /// Send it to the live members.
        case deliver
        /// It was seen already, or belongs to an epoch that is over.
        case ignore
        /// Keep it: a repair is under way and it follows what the repair will bring.
        case hold
        /// Keep it and ask the log for what follows this position: events are missing, or the event is of another
        /// epoch. Whether that epoch has begun or is long over only the log knows.
        case repair(after: Position)
    }

    /// What is known of the order.
    private enum State: Equatable {
        /// Nothing: there is no member to give events to.
        case unknown
        /// The live members were given everything up to this position.
        case live(Position)
        /// Something is missing after this position, and a repair fetches it.
        case repairing(after: Position)
    }

    private var state = State.unknown
    /// The epoch before the current one; its late events are dropped without asking the log.
    private var retiredEpoch: [UInt8]?

    /// The last event the live members were given; `nil` while there is none to compare with.
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

    /// A positioned event came.
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

    /// Events may be missing, known from elsewhere than an event; the position to repair after, `nil` when there is
    /// nothing to.
    mutating func doubted() -> Position? {
        guard let position else { return nil }
        state = .repairing(after: position)
        return position
    }

    /// A repair brought events up to this position and goes on.
    mutating func advanced(to reached: Position) {
        state = .repairing(after: reached)
    }

    /// A repair brought events up to `top`, or established that it cannot.
    mutating func repaired(to top: Position) {
        if let current = position, current.epoch != top.epoch { retiredEpoch = current.epoch }
        state = .live(top)
    }

    /// A read of the log answered with an epoch that no event has told of: what it holds is fetched from its start.
    mutating func reset(to epoch: [UInt8]) -> Position? {
        guard let start = Position(epoch: epoch, offset: 0) else { return nil }
        if let current = position, current.epoch != epoch { retiredEpoch = current.epoch }
        state = .repairing(after: start)
        return start
    }

    /// What it means for the feed that a joining client was answered with a position.
    enum JoinMeaning: Equatable {
        /// The feed had no position; it has this one now.
        case adopted
        /// The same epoch; the client stands at or before or after the feed, which goes on as it is.
        case same
        /// The epoch changed without an event having told: the live members are told, and its events are fetched for
        /// them after this position.
        case reset(Position)
        /// The answer is of an epoch that is over; the client has to ask again.
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
            // Answers come in the order of the questions: the same answer again is what the log says now.
            retiredEpoch = nil
            return .stale
        }
        return reset(to: answer.epoch).map { .reset($0) } ?? .stale
    }

    /// Forgets the position when the last member has gone and the channel is given up.
    mutating func forget() {
        self = FeedCursor()
    }
}

/// Which of the events that came while a client was joining it still has to get.
enum JoinMerge {
    /// The client was answered with position `answer`; an event that came meanwhile is sent on when it follows it.
    ///
    /// Unpositioned events are always sent on: they are delivered at most once and were not in the answer.
    static func follows(_ event: Position?, _ answer: Position) -> Bool {
        guard let event else { return true }
        return event.epoch == answer.epoch && event.offset > answer.offset
    }
}
