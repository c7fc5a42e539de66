/// Questions to services outside that wait for their answers; pure.
///
/// Who asks what is being asked already shares the answer. Time is a parameter, monotonic milliseconds.
struct AskBook<Waiter> {
    /// What makes two questions one.
    struct Question: Hashable {
        /// Who asks: no two commands share answers.
        let command: String
        /// What is asked, the text of a JSON object.
        let request: [UInt8]
    }

    /// What became of a question.
    enum Asked: Equatable {
        /// It is to be asked, under this id.
        case first
        /// It is being asked already.
        case shared
        /// Nothing more may wait.
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

    /// Questions that wait.
    var count: Int { waiting.count }

    /// Notes a question under an id that nobody can guess.
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

    /// Whether a question of that id waits.
    func waits(_ id: [UInt8]) -> Bool { waiting[id] != nil }

    /// An answer came: who waits for it; empty for an id that nobody has, or no more.
    mutating func take(_ id: [UInt8]) -> [Waiter] {
        guard let found = waiting.removeValue(forKey: id) else { return [] }
        ids[found.question] = nil
        waiterCount -= found.waiters.count
        return found.waiters
    }

    /// The ids of questions whose time is over.
    func due(nowMs: Int) -> [[UInt8]] { waiting.filter { $0.value.dueMs <= nowMs }.map(\.key) }
}
