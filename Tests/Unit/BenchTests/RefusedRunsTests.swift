import Testing

@testable import switchboard_bench

/// A run in which a client or a publish was refused is a failed one, and has no figures for anybody.
@Suite struct RefusedRunsTests {
    private func refused(_ target: String = "ws", clients: Int = 0, publishes: Int = 0) -> BenchResult {
        var run = ResultSamples.fanout(target, cpuUs: 9)
        (run.refusedClients, run.refused, run.passed) = (clients, publishes, false)
        return run
    }

    @Test(arguments: [(0, 0, nil), (1, 0, "1 clients and 0 publishes were refused"), (0, 1_200, "0 clients and 1,200")])
    func refusalsInWords(_ clients: Int, _ publishes: Int, _ words: String?) {
        let said = refused(clients: clients, publishes: publishes).refusals
        #expect((said == nil) == (words == nil))
        if let words { #expect(said?.hasPrefix(words) == true) }
        var votes = refused(clients: clients, publishes: publishes)
        votes.scenario = "vote"
        #expect(votes.refusals == nil, "that scenario causes refusals on purpose")
    }

    @Test(arguments: [(1, 0), (0, 1)])
    func itsFiguresAreInNoMergedRun(_ clients: Int, _ publishes: Int) throws {
        let bad = refused(clients: clients, publishes: publishes)
        for order in [[ResultSamples.fanout("ws"), bad], [bad, ResultSamples.fanout("ws")]] {
            let merged = try #require(BenchResult.merged(order))
            #expect(!merged.passed && merged.server?.cpuUsPerDelivery == 2 && merged.published == 200)
        }
        let none = try #require(BenchResult.merged([bad, bad]))
        #expect(!none.passed && none.server == nil && none.latency == nil && none.delivered == nil)
        #expect((none.refusedClients, none.refused) == (clients, publishes))
    }

    @Test func theTableNamesItWithoutFigures() {
        let text = ResultTable([ResultSamples.fanout("floor"), refused(clients: 3, publishes: 7)]).text()
        #expect(text.contains("✗ ws") && text.contains("!3") && text.contains("!7") && !text.contains("9.00"))
    }

    @Test func itIsComparedByItsFailureAlone() throws {
        let command = try CompareCommand(["a.json", "b.json"])
        let (good, bad) = ([ResultSamples.fanout("ws")], [refused(publishes: 1)])
        let worse = try command.verdict(ResultSamples.report(good), ResultSamples.report(bad))
        #expect(!worse.isGood && worse.text.contains("FAILED, had passed") && !worse.text.contains("CPU per delivery"))
        let mended = try command.verdict(ResultSamples.report(bad), ResultSamples.report(good))
        #expect(mended.isGood && !mended.text.contains("better"))
    }

    /// A unicast message is mostly its way through Redis; elsewhere the bare floor is the reference.
    @Test(arguments: [("unicast", "floor/redis", "1.50"), ("fanout", "floor", "3.00")])
    func theFairFloorIsTheReference(_ scenario: String, _ name: String, _ ratio: String) throws {
        var runs = [
            ResultSamples.fanout("floor", cpuUs: 1), ResultSamples.fanout("floor", cpuUs: 2),
            ResultSamples.fanout("switchboard", cpuUs: 3),
        ]
        runs[1].settings["label"] = "floor/redis"
        for index in runs.indices { runs[index].scenario = scenario }
        for order in [runs, Array(runs.reversed())] {
            let group = try #require(RunGroup.groups(order).first)
            #expect(group.floor?.name == name && group.runs.last?.name == "switchboard")
            #expect(ResultTable(order).text().contains(ratio))
        }
        #expect(RunGroup.groups([runs[0], runs[2]]).first?.floor?.name == "floor", "there is only one")
        let page = String(decoding: try HTMLReport(reports: [ResultSamples.report(runs)]).html(), as: UTF8.self)
        #expect(page.ranges(of: "\"isReference\":true").count == 1)
    }

    @Test func theFlagIsNoPartOfTheLoad() throws {
        let read = try BenchOptions(["fanout", "--url", "wss://127.0.0.1:1", "--refusals", "discard"])
        #expect(read.refusals == .discard && read.settings["refusals"] == nil)
        #expect(throws: BenchFailure.self) {
            try BenchOptions(["fanout", "--url", "wss://127.0.0.1:1", "--refusals", "some"])
        }
    }
}
