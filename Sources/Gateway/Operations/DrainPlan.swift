/// Who is told and closed when during a drain, so that clients come back at an even rate, however they take the notice.
///
/// Everybody has a turn, in random order, evenly spread. The notice comes with the turn and not at the beginning, the
/// close a twentieth of the time later, and the hint is at most a fortieth: so who leaves at once, who leaves after the
/// hint, who waits for the close, and who waits for the hint after the close, all come back within a fortieth of their
/// turn or of their close, and nobody is away for longer than that. In any tenth of the time fewer than one and a half
/// times the even share return.
///
/// Pure: time is a parameter, monotonic milliseconds.
struct DrainPlan<ID> {
    /// What is to be done now.
    struct Step {
        /// Those who get the notice.
        var told: [ID] = []
        /// Those whose connection is closed.
        var closed: [ID] = []
    }

    private let order: [ID]
    private var told = 0
    private var closed = 0
    /// Those who came after the beginning, and when they are closed; all wait equally long.
    private var late: [(id: ID, closesAtMs: Int)] = []
    private var lateTold = 0
    private let startMs: Int
    private let turnsMs: Int

    /// Time from a client's notice to its close, milliseconds.
    let noticeMs: Int
    /// The longest hint, milliseconds.
    let hintMsMax: Int

    init(_ ids: [ID], nowMs: Int, overMs: Int, using random: inout some RandomNumberGenerator) {
        order = ids.shuffled(using: &random)
        startMs = nowMs
        noticeMs = max(overMs, 0) / 20
        hintMsMax = max(overMs, 0) / 40
        turnsMs = max(overMs - noticeMs, 1)
    }

    /// Whether everybody was closed.
    var isOver: Bool { closed == order.count && late.isEmpty }

    /// Somebody came when the drain had begun: told and closed in its time, whatever the others' turns.
    mutating func join(_ id: ID, nowMs: Int) {
        late.append((id, nowMs + noticeMs))
    }

    /// Those whose turn has come.
    mutating func step(nowMs: Int) -> Step {
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

    /// How many turns have come after so many milliseconds.
    private func due(_ elapsedMs: Int) -> Int {
        order.count * min(max(elapsedMs, 0), turnsMs) / turnsMs
    }
}
