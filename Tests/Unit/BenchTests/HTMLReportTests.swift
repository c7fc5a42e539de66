import Testing

@testable import switchboard_bench

@Suite struct HTMLReportTests {
    private func html(_ runs: [BenchResult]) throws -> String {
        String(decoding: try HTMLReport(reports: [ResultSamples.report(runs)]).html(), as: UTF8.self)
    }

    @Test func hostileTextStaysText() throws {
        let hostile = "</script><img src=x onerror=alert(1)><!--{{script}}"
        var run = ResultSamples.fanout("ws")
        run.settings["label"] = hostile
        run.notes = [hostile]
        let page = try html([run])
        #expect(!page.contains("<img") && !page.contains("</script><img"))
        #expect(page.contains("\\u003c/script>\\u003cimg"))
        let plain = try html([ResultSamples.fanout("ws")])
        for tag in ["<script", "</script", "<!--"] {
            #expect(page.ranges(of: tag).count == plain.ranges(of: tag).count, "\(tag)")
        }
    }

    @Test func nothingIsFetched() throws {
        let page = try html([ResultSamples.fanout("ws")]).lowercased()
        let fetched = ["http://", "https://", "src=", "href=", "url(", "@import", "\"//", "'//", "import("]
        // What was measured has an address, which is shown and not opened.
        let own = page.replacing("wss://", with: "")
        for sign in fetched { #expect(!own.contains(sign), "\(sign)") }
        #expect(page.contains("default-src 'none'"))
    }

    @Test func theSameTargetTwiceHasTwoNames() throws {
        var newer = ResultSamples.fanout("ws")
        newer.commit = "def5678"
        let page = try html([ResultSamples.fanout("ws"), newer])
        #expect(page.contains("\"name\":\"ws abc1234\"") && page.contains("\"name\":\"ws def5678\""))
    }
}
