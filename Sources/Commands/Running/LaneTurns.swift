import Core

/// Keeps the order of lanes in which a call needs several round trips: whatever follows it in its lane waits for its end.
///
/// Bounded by `waitingMax` over all lanes.
struct LaneTurns {
    /// What became of a call that asked for its turn.
    enum Turn {
        /// Nothing is before it.
        case now
        /// It begins later.
        case later
        /// Too many wait; it was not taken.
        case full
    }

    private var lanes: [UInt64: Ring<() -> Void>] = [:]
    private var waitingCount = 0
    private let waitingMax: Int

    init(waitingMax: Int) {
        self.waitingMax = waitingMax
    }

    /// Whether a call of the lane has its turn, or waits for it.
    func isTaken(_ lane: UInt64) -> Bool { lanes[lane] != nil }

    /// Asks for a turn in a lane that a call with several round trips has.
    mutating func ask(_ lane: UInt64, _ begin: @escaping () -> Void) -> Turn {
        guard lanes[lane] != nil else { return .now }
        guard waitingCount < waitingMax else { return .full }
        lanes[lane]?.append(begin)
        waitingCount += 1
        return .later
    }

    /// Takes the lane for a call with several round trips; nobody may have it.
    mutating func take(_ lane: UInt64) {
        lanes[lane] = Ring()
    }

    /// Ends the turn of the call that has the lane, and returns those that waited, in order.
    mutating func end(_ lane: UInt64) -> [() -> Void] {
        guard var waiting = lanes.removeValue(forKey: lane) else { return [] }
        var calls: [() -> Void] = []
        while let call = waiting.popFirst() { calls.append(call) }
        waitingCount -= calls.count
        return calls
    }
}
