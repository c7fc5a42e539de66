/// Answers that are a moment old, for callers that ask the same again.
///
/// Pure: time is a parameter, monotonic milliseconds. Bounded: the oldest answer goes first.
struct RecentAnswers {
    private var answers: [(result: FleetResult, untilMs: Int)] = []

    /// Time for which an answer is shared.
    static let lifeMs = 250
    private static let countMax = 16

    /// The shared answer to a question; `nil` when there is none.
    func answer(_ question: FleetQuestion, nowMs: Int) -> FleetResult? {
        answers.last { $0.untilMs > nowMs && $0.result.question == question }?.result
    }

    /// Keeps an answer.
    mutating func keep(_ result: FleetResult, nowMs: Int) {
        drop(nowMs: nowMs)
        answers.append((result, nowMs + RecentAnswers.lifeMs))
        if answers.count > RecentAnswers.countMax { answers.removeFirst() }
    }

    /// Drops the answers whose time is over: they name users and addresses.
    mutating func drop(nowMs: Int) { answers.removeAll { $0.untilMs <= nowMs } }

    /// When the last answer must be dropped; `nil` when none is kept.
    var endMs: Int? { answers.last?.untilMs }
}
