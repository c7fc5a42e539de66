import Core

/// Keeps the order of lanes in which a call needs several round trips: later calls of the lane wait for its end.
///
/// Bounded by `waitingMax` over all lanes.
struct LaneOrder {
    /// The result of asking whether a call may begin.
    enum Turn {
        /// No call is before it.
        case now
        /// It begins later.
        case later
        /// Too many calls wait; it was not accepted.
        case full
    }

    private var lanes: [UInt64: Ring<() -> Void>] = [:]
    private var waitingCount = 0
    private let waitingMax: Int

    init(waitingMax: Int) {
        self.waitingMax = waitingMax
    }

    /// Whether a call with several round trips occupies the lane; later calls may wait for it.
    func isTaken(_ lane: UInt64) -> Bool { lanes[lane] != nil }

    /// Asks whether a call may begin; it waits when a call with several round trips occupies the lane.
    mutating func ask(_ lane: UInt64, _ begin: @escaping () -> Void) -> Turn {
        guard lanes[lane] != nil else { return .now }
        guard waitingCount < waitingMax else { return .full }
        lanes[lane]?.append(begin)
        waitingCount += 1
        return .later
    }

    /// Gives the lane to a call with several round trips; the lane must be free.
    mutating func take(_ lane: UInt64) {
        lanes[lane] = Ring()
    }

    /// Frees the lane, and returns the calls that waited, in order.
    mutating func end(_ lane: UInt64) -> [() -> Void] {
        guard var waiting = lanes.removeValue(forKey: lane) else { return [] }
        var calls: [() -> Void] = []
        while let call = waiting.popFirst() { calls.append(call) }
        waitingCount -= calls.count
        return calls
    }
}
