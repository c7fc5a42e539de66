import Core

/// Answers of a service that stay valid for a while, by question; pure.
struct AnswerCache<Answer> {
    private let countMax: Int
    private var kept: [String: (answer: Answer, goodMs: Int)] = [:]
    private var order = Ring<String>()

    /// Stores `countMax` answers at most; beyond, the oldest are dropped first.
    init(countMax: Int) {
        self.countMax = countMax
    }

    /// The answer to a question; `nil` when it is unknown or no longer valid.
    func answer(to question: String, nowMs: Int) -> Answer? {
        guard let found = kept[question], found.goodMs > nowMs else { return nil }
        return found.answer
    }

    /// Stores an answer until that time.
    mutating func keep(_ answer: Answer, to question: String, untilMs: Int) {
        if kept.updateValue((answer, untilMs), forKey: question) == nil { order.append(question) }
        while order.count > countMax, let oldest = order.popFirst() { kept[oldest] = nil }
    }
}
