/// Pending questions to all shards about a topic, and their partial answers.
struct TopicQuestions {
    private struct Question {
        var left: Int
        var report: TopicReport
        let askedMs: Int
        let completion: (TopicReport) -> Void
    }

    private var open: [Int: Question] = [:]
    private var asked = 0

    /// Opens a question to so many shards; returns its number.
    mutating func ask(of shards: Int, nowMs: Int, _ completion: @escaping (TopicReport) -> Void) -> Int {
        asked &+= 1
        open[asked] = Question(left: shards, report: TopicReport(), askedMs: nowMs, completion: completion)
        return asked
    }

    /// Takes one shard's answer.
    mutating func answered(_ number: Int, _ report: TopicReport) {
        guard var question = open.removeValue(forKey: number) else { return }
        question.left -= 1
        question.report = question.report + report
        if question.left == 0 { return question.completion(question.report) }
        open[number] = question
    }

    /// Answers questions pending for too long with the partial result: an answer was lost to a full mailbox.
    mutating func expire(nowMs: Int, afterMs: Int) {
        for (number, question) in open where nowMs - question.askedMs >= afterMs {
            open[number] = nil
            question.completion(question.report)
        }
    }
}
