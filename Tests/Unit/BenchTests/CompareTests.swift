import Testing

@testable import switchboard_bench

@Suite struct CompareTests {
    private func verdict(
        _ before: [BenchResult], _ after: [BenchResult], _ flags: [String] = []
    ) throws -> (text: String, isGood: Bool) {
        try CompareCommand(["a.json", "b.json"] + flags).verdict(
            ResultSamples.report(before), ResultSamples.report(after))
    }

    @Test func nothingChanged() throws {
        let same = try verdict([ResultSamples.fanout("ws")], [ResultSamples.fanout("ws", cpuUs: 2.19)])
        #expect(same.isGood && same.text.contains("1.10 ×") && !same.text.contains("WORSE"))
    }

    @Test func worseBeyondTheToleranceIsTold() throws {
        let (before, after) = ([ResultSamples.fanout("ws")], [ResultSamples.fanout("ws", cpuUs: 2.3)])
        let worse = try verdict(before, after)
        #expect(!worse.isGood && worse.text.contains("1 of 1 run worse by more than 10 %"))
        #expect(try verdict(before, after, ["--tolerance", "20"]).isGood)
        let better = try verdict(after, before)
        #expect(better.isGood && better.text.contains("better"))
    }

    @Test func fewerDeliveriesAreWorse() throws {
        var slow = ResultSamples.fanout("ws")
        slow.deliveriesPerSecond = 15_000
        #expect(!(try verdict([ResultSamples.fanout("ws")], [slow]).isGood))
        #expect(try verdict([slow], [ResultSamples.fanout("ws")]).isGood)
    }

    /// One lost delivery is no matter of percent.
    @Test func lossesAreWorse() throws {
        let lossy = try verdict(
            [ResultSamples.fanout("ws")], [ResultSamples.fanout("ws", lost: 1)], ["--tolerance", "1000"])
        #expect(!lossy.isGood && lossy.text.contains("LOST 1 deliveries, before 0"))
        let both = try verdict([ResultSamples.fanout("ws", lost: 1)], [ResultSamples.fanout("ws", lost: 1)])
        #expect(both.isGood, "A lost it too")
    }

    @Test func runsOfOneFileAreNamed() throws {
        let some = try verdict(
            [ResultSamples.fanout("ws"), ResultSamples.fanout("floor")],
            [ResultSamples.fanout("ws"), ResultSamples.fanout("ws", rate: 100)])
        #expect(some.isGood)
        #expect(some.text.contains("only in a.json, not compared:\n  fanout  floor  1,000 connections · 20/s"))
        #expect(some.text.contains("only in b.json, not compared:\n  fanout  ws  1,000 connections · 100/s"))
        #expect(throws: BenchFailure.self) {
            try verdict([ResultSamples.fanout("ws")], [ResultSamples.fanout("floor")])
        }
    }

    @Test(arguments: [["a"], ["a", "b", "c"], ["a", "b", "--tolerance"], ["a", "b", "--tolerance", "-1"], ["--x"]])
    func commandLinesAreRefused(_ arguments: [String]) {
        #expect(throws: BenchFailure.self) { try CompareCommand(arguments) }
    }
}
