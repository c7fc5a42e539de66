import Testing

@testable import Topics

@Suite struct TopicQuestionsTests {
    private func came(_ count: Int) -> TopicReport {
        var report = TopicReport()
        report.came = count
        return report
    }

    @Test func aQuestionIsAnsweredWithTheSumOnceAllHaveAnswered() {
        var questions = TopicQuestions()
        var answers: [Int] = []
        let one = questions.ask(of: 3, nowMs: 0) { answers.append($0.came) }
        let two = questions.ask(of: 1, nowMs: 0) { answers.append($0.came * 100) }
        #expect(one != two)
        questions.answered(one, came(5))
        questions.answered(two, came(7))
        #expect(answers == [700])
        questions.answered(one, came(0))
        questions.answered(one, came(2))
        #expect(answers == [700, 7])
        questions.answered(one, came(9))
        questions.answered(two, came(9))
        questions.answered(12_345, came(9))
        #expect(answers == [700, 7])
    }

    @Test func aQuestionWhoseAnswerWasLostIsAnsweredWithWhatIsKnown() {
        var questions = TopicQuestions()
        var answers: [Int] = []
        let number = questions.ask(of: 2, nowMs: 100) { answers.append($0.came) }
        questions.answered(number, came(4))
        questions.expire(nowMs: 1_099, afterMs: 1_000)
        #expect(answers.isEmpty)
        questions.expire(nowMs: 1_100, afterMs: 1_000)
        questions.answered(number, came(5))
        #expect(answers == [4])
    }
}
