import Glibc
import Testing

@testable import switchboard_bench

@Suite struct ReportFileTests {
    /// Runs the body with a file name in a directory of its own.
    private func withPath(_ body: (String) throws -> Void) throws {
        var template = Array("bench-report-XXXXXX".utf8CString)
        let made = unsafe mkdtemp(&template).map { unsafe String(cString: $0) }
        let directory = try #require(made)
        let path = directory + "/results.json"
        defer {
            _ = unsafe unlink(path)
            _ = unsafe rmdir(directory)
        }
        try body(path)
    }

    @Test func whatIsWrittenIsRead() throws {
        try withPath { path in
            try ReportFile(path).write(
                ResultSamples.report([
                    ResultSamples.fanout("floor"),
                    .init(
                        scenario: "idle", target: "ws", settings: [:], passed: true, seconds: 1),
                ]))
            let read = try ReportFile(path).read()
            #expect(read.machine == ResultSamples.machine)
            #expect(read.runs.map(\.target) == ["floor", "ws"])
            #expect(read.runs[0].latency?.buckets == [[1_000, 900], [5_000, 100]])
            #expect(read.runs[0].series.count == 1)
            #expect(read.runs[1].latency == nil && read.runs[1].lost == nil)
        }
    }

    @Test func runsAreAppended() throws {
        try withPath { path in
            let file = ReportFile(path)
            var run = ResultSamples.fanout("floor")
            run.settings["api-key"] = "swb_secret"
            let here = ResultSamples.machine
            try file.append(run, machine: here, commit: "abc1234", startedAt: "2026-01-02T03:04:05Z")
            var there = here
            there.cores = 64
            try file.append(
                ResultSamples.fanout("ws"), machine: there, commit: "def5678", startedAt: "2026-01-03T03:04:05Z")
            let report = try file.read()
            #expect(report.runs.map(\.target) == ["floor", "ws"])
            #expect(report.runs.map(\.commit) == [nil, "def5678"])
            #expect(report.runs.map(\.machine) == [nil, there])
            #expect(report.runs.map(\.startedAt) == ["2026-01-02T03:04:05Z", "2026-01-03T03:04:05Z"])
            #expect(report.runs[0].settings["api-key"] == nil, "a key would go with the file")
        }
    }

    /// A run of an hour must not end in a file that had only been believed to be a report.
    @Test func nothingIsAppendedToWhatIsNoReport() throws {
        try withPath { path in
            try ReportFile(path).replace(with: Array("my diary".utf8))
            #expect(throws: BenchFailure.self) {
                try ReportFile(path).append(
                    ResultSamples.fanout("floor"), machine: ResultSamples.machine, commit: nil, startedAt: "")
            }
            let left = try ReportFile.encode(ResultSamples.report([]))
            #expect(throws: BenchFailure.self) { try ReportFile(path).read() }
            try ReportFile(path).replace(with: left)
            #expect(try ReportFile(path).read().runs.isEmpty)
        }
    }

    @Test func aRunIsKeptWhereTheCommandLineSays() throws {
        try withPath { path in
            let output = try RunOutput(json: path, html: path + ".html")
            defer { _ = unsafe unlink(path + ".html") }
            try output.keep(ResultSamples.fanout("floor"))
            try output.keep(ResultSamples.fanout("ws"))
            #expect(try ReportFile(path).read().runs.map(\.target) == ["floor", "ws"])
            #expect(ReportFile(path + ".html").exists)
            try ReportFile(path).replace(with: Array("{}".utf8))
            #expect(throws: BenchFailure.self, "told before the run") { try RunOutput(json: path, html: "") }
        }
    }

    @Test func badFilesAreRefusedWithTheirReason() throws {
        let good = String(
            decoding: try ReportFile.encode(ResultSamples.report([ResultSamples.fanout("ws")])), as: UTF8.self)
        let cases = [
            ("", "cut off"), ("[]", "not a report"), ("{\"format\":3}", "not a report"),
            ("{\"format\":\"other/2\"}", "has the format \"other/2\"; this tool reads \"switchboard-bench/1\""),
            ("{\"format\":\"switchboard-bench/1\"}", "is missing"),
            (String(good.dropLast(good.count / 2)), "cut off"),
            (good.replacing("\"seconds\" : 10", with: "\"seconds\" : \"ten\""), ".runs[0].seconds has another type"),
            (good.replacing("1000,", with: "-1,"), "run 1 has a histogram that is none"),
            (good.replacing("900", with: "9223372036854775807"), "run 1 has a histogram that is none"),
            (String(repeating: "[", count: 100_000), "not a report"),
        ]
        for (text, reason) in cases {
            let failure = #expect(throws: BenchFailure.self, "\(reason)") { try ReportFile.decode(Array(text.utf8)) }
            #expect(
                failure?.description.contains(reason) == true, "\(failure?.description ?? "read") of \(text.prefix(80))"
            )
        }
    }

    @Test func histogramsAndSeriesAreOneLine() throws {
        let text = String(
            decoding: try ReportFile.encode(ResultSamples.report([ResultSamples.fanout("ws")])), as: UTF8.self)
        let lines = text.split(separator: "\n").map { $0.filter { $0 != " " } }
        #expect(lines.contains("\"buckets\":[[1000,900],[5000,100]],"))
        #expect(lines.contains { $0.hasPrefix("\"series\":[{\"delivered\":20000,") && $0.hasSuffix("}],") })
    }

    @Test func theMachineIsFound() throws {
        let facts = MachineFacts.current()
        #expect(facts.cores > 0 && facts.memoryBytes > 1_000_000)
        #expect(!facts.processor.isEmpty && !facts.kernel.isEmpty && facts.openssl.hasPrefix("OpenSSL "))
        #expect(MachineFacts.field("PRETTY_NAME", in: "A=1\nPRETTY_NAME=\"X 1\"\n", separator: "=") == "X 1")
        #expect(MachineFacts.field("model name", in: "model\t: 7\nmodel name\t: C P U\n", separator: ":") == "C P U")
        #expect(MachineFacts.memoryBytes("MemTotal:  2048 kB\n") == 2_097_152)
        #expect(MachineFacts.memoryBytes("Mem") == 0)
        #expect(MachineFacts.currentTime().count == "2026-01-02T03:04:05Z".count)
    }
}
