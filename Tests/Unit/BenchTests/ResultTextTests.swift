import Testing

@testable import switchboard_bench

@Suite struct ResultTextTests {
    @Test func targetsStandSideBySideWithTheFloorFirst() {
        let text = ResultTable([ResultSamples.fanout("switchboard", cpuUs: 2.1), ResultSamples.fanout("floor")]).text()
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines[0] == "fanout  1,000 connections · 20/s")
        #expect(lines[1].contains("CPU/dlv  × floor"))
        #expect(lines[3].hasPrefix("✓ floor ") && lines[4].hasPrefix("✓ switchboard "))
        #expect(lines[4].contains("2.10     1.05"))
        #expect(lines.allSatisfy { $0.count <= 100 }, "\(text)")
        #expect(!text.contains("memory") && !text.contains("twice"), "only what was measured")
    }

    @Test func aFloorIsTheReferenceByAnyName() {
        var floor = ResultSamples.fanout("fast", cpuUs: 2)
        floor.settings["target"] = "floor"
        let text = ResultTable([ResultSamples.fanout("ws", cpuUs: 3), floor]).text()
        #expect(text.contains("× floor") && text.contains("1.50"))
    }

    @Test func lossesStandOutWithoutColour() {
        let text = ResultTable([ResultSamples.fanout("nchan", lost: 12)]).text()
        #expect(text.contains("✗ nchan") && text.contains(" !12 "))
        #expect(text.contains("! nchan LOST 12 of 200,000 deliveries"))
        #expect(!text.contains("\u{1B}"))
        let coloured = ResultTable([ResultSamples.fanout("nchan", lost: 12)]).text(
            TextStyle(isTerminal: true, hasColour: true))
        #expect(coloured.contains("\u{1B}[1;31m! nchan LOST"))
    }

    @Test func wideTablesAreCut() {
        var run = ResultSamples.fanout("switchboard", lost: 3)
        // Its refusals leave the figures.
        run.scenario = "capacity"
        (run.duplicates, run.reordered, run.refused, run.toolCores, run.redisCores) = (1, 2, 3, 0.5, 0.25)
        run.server?.privateBytesPerConnection = 17_600
        run.server?.cpuUsPerConnection = 512
        run.connect = run.latency
        let text = ResultTable([run]).text()
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 100 }, "\(text)")
        for head in ["memory/conn", "17.6", "set-up CPU", "512", "connect p99", "reordered"] {
            #expect(text.contains(head), "\(head)")
        }
    }

    @Test func repeatedRunsAreMergedByTheirHistograms() throws {
        var slow = ResultSamples.fanout("floor", cpuUs: 4)
        slow.latency = ResultSamples.latency([[1_000, 10], [80_000, 90]])
        slow.delivered = 600_000
        let merged = try #require(BenchResult.merged([ResultSamples.fanout("floor", cpuUs: 2), slow]))
        #expect(merged.latency?.count == 1_100)
        #expect(merged.latency?.buckets == [[1_000, 910], [5_000, 100], [80_000, 90]])
        #expect(merged.latency?.p50Us == 1_000 && merged.latency?.p99Us == 80_000, "no mean of 5 ms and 80 ms")
        #expect(merged.server?.cpuUsPerDelivery == 3.5, "2 µs of 200,000 and 4 µs of 600,000")
        #expect(merged.delivered == 800_000 && merged.seconds == 20)
    }

    @Test func textFromFilesDrivesNoTerminal() {
        #expect(ResultTable.plain("a\u{1B}[31mb\u{202E}\nc", limit: 20) == "a?[31mb??c")
        #expect(ResultTable.plain("abcdef", limit: 4) == "abc…")
    }

    @Test func figures() {
        #expect([0, 999, 1_000, -1_234_567].map(Figure.whole) == ["0", "999", "1,000", "-1,234,567"])
        #expect(
            [0, 0.01234, 1.234, 12.34, 123.4, 9.996, -2.5, .nan].map(Figure.short)
                == ["0", "0.012", "1.23", "12.3", "123", "10.0", "-2.50", "-"])
        #expect([0, 3, 1_600, 15_000, 1_234_567].map(Figure.rounded) == ["0", "3", "1,600", "15.0k", "1.23M"])
        #expect([850, 1_250, 3_400_000].map(Figure.latency) == ["850 µs", "1.25 ms", "3.40 s"])
    }

    @Test func theProgressLineFits() {
        let progress = ProgressText(
            elapsedSeconds: 12.7, totalSeconds: 60, connections: 30_000, publishedPerSecond: 1_600,
            deliveredPerSecond: 1_523_456, p50Us: 8_750, p99Us: 48_750, lost: 0, serverCores: 0.98, toolCores: 1.02)
        #expect(
            progress.line()
                == "12/60 s ━┄┄┄┄┄  30.0k conn  1,600/s → 1.52M/s  p50 8.75 p99 48.8 ms  lost 0  srv 0.98 tool 1.02")
        var losing = progress
        losing.lost = 3
        #expect(losing.line().contains("  LOST 3  ") && losing.line().count <= 100)
        #expect(progress.drawn(.plain).hasSuffix("\n"))
        #expect(progress.drawn(TextStyle(isTerminal: true, hasColour: false)).hasPrefix("\r\u{1B}[K"))
    }
}
