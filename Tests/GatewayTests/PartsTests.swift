import Commands
import Core
import HTTPCodec
import TestSupport
import Testing

@testable import Calls
@testable import EventLogs
@testable import Gateway
@testable import HTTPSurface
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

@Suite struct PrintableNameTests {
    @Test(arguments: [
        ("vote", "'vote'"), ("", "''"), ("a b", "'a?b'"), ("a\"b", "'a?b'"), ("a\nb\u{7f}", "'a?b?'"),
        ("caf\u{e9}", "'caf??'"), (String(repeating: "x", count: 65), "'" + String(repeating: "x", count: 64) + "'"),
    ])
    func onlyPrintableASCIIIsShown(_ name: String, _ shown: String) {
        #expect(PrintableName.shown(name) == shown)
    }
}

@Suite struct StoreScriptsTests {
    @Test func theEmbeddedScriptsAssemble() throws {
        let library = try ScriptLibrary(
            packs: ["barbershop"], directory: nil, namespaces: StandardTables.namespaces.keys, reservedPaths: [])
        let scripts = try EventLogScripts(library)
        let all = [scripts.publish, scripts.subscribe, scripts.history, scripts.position]
        #expect(Set(all.map { "\($0)" }).count == 4)
        let keys = Keys(prefix: [])
        let shop = try #require(Topic("shop:42"))
        let stateful = try #require(scripts.stateful(shop))
        #expect(!all.contains { "\($0)" == "\(stateful.subscribe)" || "\($0)" == "\(stateful.position)" })
        #expect(
            stateful.keys(shop, keys).map { String(decoding: $0, as: UTF8.self) }
                == ["queue:42", "shop:42#status", "shop:42#bookings", "shop:42#barbers"])
        #expect(scripts.stateful(try #require(Topic("order:42"))) == nil)
    }
}

@Suite struct BroadcastBatchTests {
    typealias Item = Result<(Topic, EventLog.PublishReceipt), Refusal>

    static func success(_ offset: Int, isDuplicate: Bool = false) throws -> Item {
        let position = try #require(Position(epoch: Array("e1".utf8), offset: offset))
        return .success(
            (try #require(Topic("shop:42")), EventLog.PublishReceipt(position: position, isDuplicate: isDuplicate)))
    }

    static func failure(_ code: ErrorCode) -> Item { .failure(Refusal(code, "no \"luck\"")) }

    /// The finished batch of these results, finished in that order.
    static func batch(_ results: [Item], order: [Int]) -> (batch: BroadcastBatch?, completions: Int) {
        var done: BroadcastBatch?
        var completions = 0
        let batch = BroadcastBatch(count: results.count) {
            done = $0
            completions += 1
        }
        for index in order { batch.finish(index, results[index]) }
        return (done, completions)
    }

    @Test(arguments: [[0, 1, 2], [2, 1, 0], [1, 2, 0], [1, 1, 0, 0, 2, 2]])
    func resultsComeInTheOrderOfTheItems(_ order: [Int]) throws {
        let results = [
            try BroadcastBatchTests.success(7), BroadcastBatchTests.failure(.forbidden),
            try BroadcastBatchTests.success(9, isDuplicate: true),
        ]
        let (batch, completions) = BroadcastBatchTests.batch(results, order: order)
        let response = try #require(batch).response
        #expect(completions == 1)
        #expect(response.status == 200)
        let expected =
            #"{"results":[{"topic":"shop:42","epoch":"e1","offset":7},"#
            + #"{"error":{"code":"forbidden","message":"no \"luck\""}},"#
            + #"{"topic":"shop:42","epoch":"e1","offset":9,"duplicate":true}]}"#
        #expect(String(decoding: response.body, as: UTF8.self) == expected)
    }

    @Test func aBatchWithoutItsLastResultIsNotAnswered() throws {
        let results = [try BroadcastBatchTests.success(1), try BroadcastBatchTests.success(2)]
        #expect(BroadcastBatchTests.batch(results, order: [1]).completions == 0)
    }

    @Test func anOutageForEveryItemIsTheRequestsOwn() throws {
        let out = BroadcastBatchTests.failure(.unavailable)
        let all = try #require(BroadcastBatchTests.batch([out, out], order: [0, 1]).batch)
        #expect(all.response.status == 503)
        #expect(all.supabaseResponse.status == 503)
        let some = try #require(
            BroadcastBatchTests.batch([out, try BroadcastBatchTests.success(1)], order: [0, 1]).batch)
        #expect(some.response.status == 200)
        #expect(some.supabaseResponse.status == 503, "nothing is dropped in silence")
    }

    @Test func theOtherShapeAnswersWithNothingOrTheFirstError() throws {
        let good = try BroadcastBatchTests.success(1)
        let done = try #require(BroadcastBatchTests.batch([good, good], order: [0, 1]).batch)
        #expect(done.supabaseResponse.status == 202)
        #expect(done.supabaseResponse.body.isEmpty)
        let mixed = [good, BroadcastBatchTests.failure(.forbidden), BroadcastBatchTests.failure(.tooLarge)]
        let failed = try #require(BroadcastBatchTests.batch(mixed, order: [2, 1, 0]).batch)
        #expect(failed.supabaseResponse.status == 403)
    }
}
