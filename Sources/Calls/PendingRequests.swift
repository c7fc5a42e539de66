/// Pending questions to outside services; pure.
///
/// A caller whose question is already pending shares the answer. Time is a parameter, monotonic milliseconds.
struct PendingRequests<Waiter> {
    /// The properties in which two questions must agree to share an answer.
    struct Question: Hashable {
        /// The command that asks: no two commands share answers.
        let command: String
        /// The text of a JSON object that the service receives.
        let request: [UInt8]
    }

    /// The result of adding a question.
    enum Asked: Equatable {
        /// It is new and must be sent, under this id.
        case first
        /// It is already pending.
        case shared
        /// No further caller may wait.
        case full
    }

    private struct Waiting {
        let question: Question
        let dueMs: Int
        var waiters: [Waiter]
    }

    private let questionsMax: Int
    private let waitersMax: Int
    private var waiting: [[UInt8]: Waiting] = [:]
    private var ids: [Question: [UInt8]] = [:]
    private var waiterCount = 0

    init(questionsMax: Int, waitersMax: Int) {
        self.questionsMax = questionsMax
        self.waitersMax = waitersMax
    }

    /// Number of pending questions.
    var count: Int { waiting.count }

    /// Adds a question under an unguessable id.
    mutating func ask(_ question: Question, id: [UInt8], dueMs: Int, _ waiter: Waiter) -> Asked {
        guard waiterCount < waitersMax else { return .full }
        if let known = ids[question] {
            waiting[known]?.waiters.append(waiter)
            waiterCount += 1
            return .shared
        }
        guard waiting.count < questionsMax else { return .full }
        ids[question] = id
        waiting[id] = Waiting(question: question, dueMs: dueMs, waiters: [waiter])
        waiterCount += 1
        return .first
    }

    /// Whether a question of that id is pending.
    func waits(_ id: [UInt8]) -> Bool { waiting[id] != nil }

    /// Takes the callers that wait for an answer; empty for an id that is unknown or no longer pending.
    mutating func take(_ id: [UInt8]) -> [Waiter] {
        guard let found = waiting.removeValue(forKey: id) else { return [] }
        ids[found.question] = nil
        waiterCount -= found.waiters.count
        return found.waiters
    }

    /// The ids of questions that have expired.
    func due(nowMs: Int) -> [[UInt8]] { waiting.filter { $0.value.dueMs <= nowMs }.map(\.key) }
}
