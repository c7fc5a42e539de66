/// The budget of handshakes in a tick, and the number of waiting ones.
///
/// Pure. The steps of a handshake cost very different amounts, one of them signs, so the time bounds a tick. The count
/// bounds it where a clock does not advance. Peers that have sent nothing do not wait for the budget and are not
/// counted: their deadline ends them.
struct HandshakeQueue: Equatable {
    private let stepsPerTick: Int
    private let usPerTick: Int
    private let waitingMax: Int
    private var tick = Int.min
    private var stepsLeft = 0
    private var usLeft = 0
    /// Handshakes whose bytes were received and that wait for the budget.
    private(set) var waiting = 0

    init(stepsPerTick: Int, usPerTick: Int, waitingMax: Int) {
        self.stepsPerTick = stepsPerTick
        self.usPerTick = usPerTick
        self.waitingMax = waitingMax
    }

    /// Takes one step from the tick's budget; `false` when the budget is used up.
    mutating func take(tick: Int) -> Bool {
        if self.tick != tick { (self.tick, stepsLeft, usLeft) = (tick, stepsPerTick, usPerTick) }
        guard stepsLeft > 0, usLeft > 0 else { return false }
        stepsLeft -= 1
        return true
    }

    /// Charges the time of a step.
    mutating func spent(us: Int) {
        usLeft -= us
    }

    /// One more waits.
    mutating func waits() {
        waiting += 1
    }

    /// One fewer waits.
    mutating func stopsWaiting() {
        waiting -= 1
    }

    /// Whether no new peer is to be accepted.
    var isFull: Bool { waiting >= waitingMax }

    /// Whether accepting may resume after it was full.
    var isEased: Bool { waiting * 2 < waitingMax }
}
