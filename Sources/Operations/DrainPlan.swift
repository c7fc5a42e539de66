/// The schedule of notices and closes during a drain, which lets clients reconnect at an even rate.
///
/// Every client has a turn; the turns are in random order and evenly spread. The notice is sent at the turn, not at the
/// beginning. The close follows a twentieth of the time later, and the hint is at most a fortieth. Some clients leave
/// at once, some after the hint, some wait for the close, and some wait for the hint after the close. All of them
/// reconnect within a fortieth of their turn or of their close, and none is away for longer. In any tenth of the time,
/// fewer than one and a half times the even share reconnect.
///
/// Pure: time is a parameter, monotonic milliseconds.
public struct DrainPlan<ID> {
    /// The actions that are due.
    public struct Step {
        /// Clients that receive the notice.
        public var told: [ID] = []
        /// Clients whose connection is closed.
        public var closed: [ID] = []
    }

    private let order: [ID]
    private var told = 0
    private var closed = 0
    /// Clients that connected after the beginning, and when they are closed; all wait equally long.
    private var late: [(id: ID, closesAtMs: Int)] = []
    private var lateTold = 0
    private let startMs: Int
    private let turnsMs: Int

    /// Time from a client's notice to its close, milliseconds.
    let noticeMs: Int
    /// The longest hint, milliseconds.
    public let hintMsMax: Int

    /// A plan that closes `ids`, in random order, between `nowMs` and `overMs` milliseconds later.
    public init(_ ids: [ID], nowMs: Int, overMs: Int, using random: inout some RandomNumberGenerator) {
        order = ids.shuffled(using: &random)
        startMs = nowMs
        noticeMs = max(overMs, 0) / 20
        hintMsMax = max(overMs, 0) / 40
        turnsMs = max(overMs - noticeMs, 1)
    }

    /// Whether every client was closed.
    public var isOver: Bool { closed == order.count && late.isEmpty }

    /// Adds a client that connected during the drain: it is notified at the next step and closed after its notice time.
    public mutating func join(_ id: ID, nowMs: Int) {
        late.append((id, nowMs + noticeMs))
    }

    /// Returns the clients whose turn has come.
    public mutating func step(nowMs: Int) -> Step {
        var step = Step()
        let (tells, closes) = (due(nowMs - startMs), due(nowMs - startMs - noticeMs))
        step.told += order[told..<max(tells, told)]
        told = max(tells, told)
        step.closed += order[closed..<max(closes, closed)]
        closed = max(closes, closed)
        step.told += late[lateTold...].map(\.id)
        let gone = late.prefix { $0.closesAtMs <= nowMs }
        step.closed += gone.map(\.id)
        late.removeFirst(gone.count)
        lateTold = late.count
        return step
    }

    /// Number of turns that are due after so many milliseconds.
    private func due(_ elapsedMs: Int) -> Int {
        order.count * min(max(elapsedMs, 0), turnsMs) / turnsMs
    }
}
