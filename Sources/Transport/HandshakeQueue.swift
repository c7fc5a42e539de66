/// How much of a tick handshakes may take, and how many wait for their turn.
///
/// Pure. The steps of a handshake cost very different amounts, one of them signs, so the time is what bounds a tick; the
/// count bounds it where a clock stands still. Peers that have sent nothing wait for nobody and are not counted: their
/// deadline is what ends them.
struct HandshakeQueue: Equatable {
    private let stepsPerTick: Int
    private let usPerTick: Int
    private let waitingMax: Int
    private var tick = Int.min
    private var stepsLeft = 0
    private var usLeft = 0
    /// Handshakes whose bytes are here and that wait for a turn.
    private(set) var waiting = 0

    init(stepsPerTick: Int, usPerTick: Int, waitingMax: Int) {
        self.stepsPerTick = stepsPerTick
        self.usPerTick = usPerTick
        self.waitingMax = waitingMax
    }

    /// Takes one step from the tick's budget; false when it is used up.
    mutating func take(tick: Int) -> Bool {
        if self.tick != tick { (self.tick, stepsLeft, usLeft) = (tick, stepsPerTick, usPerTick) }
        guard stepsLeft > 0, usLeft > 0 else { return false }
        stepsLeft -= 1
        return true
    }

    /// A step took so long.
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

    /// Whether nobody new is to be accepted.
    var isFull: Bool { waiting >= waitingMax }

    /// Whether accepting may go on after it was full.
    var isEased: Bool { waiting * 2 < waitingMax }
}
