import Core
import HTTPCodec
import Testing

@testable import EventLogs
@testable import HTTPSurface

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
