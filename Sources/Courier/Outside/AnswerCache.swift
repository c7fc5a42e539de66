import Core

/// Answers of a service that are good for a while, by what was asked; pure.
struct AnswerCache<Answer> {
    private let countMax: Int
    private var kept: [String: (answer: Answer, goodMs: Int)] = [:]
    private var order = Ring<String>()

    /// `countMax` answers at most; beyond, those that were kept first go first.
    init(countMax: Int) {
        self.countMax = countMax
    }

    /// The answer to a question; `nil` when it is not known or no longer good.
    func answer(to question: String, nowMs: Int) -> Answer? {
        guard let found = kept[question], found.goodMs > nowMs else { return nil }
        return found.answer
    }

    /// Keeps an answer until that time.
    mutating func keep(_ answer: Answer, to question: String, untilMs: Int) {
        if kept.updateValue((answer, untilMs), forKey: question) == nil { order.append(question) }
        while order.count > countMax, let oldest = order.popFirst() { kept[oldest] = nil }
    }
}
