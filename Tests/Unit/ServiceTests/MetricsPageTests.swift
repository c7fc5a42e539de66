import Reactors
import Testing

@testable import Service

@Suite struct MetricsPageTests {
    @Test func theTextFormatIsPrometheus() {
        var page = MetricsPage()
        page.gauge("switchboard_sessions", -3)
        page.gauge("switchboard_clock_offset_seconds", milliseconds: -1_500)
        page.counter("switchboard_events_total", 7)
        page.counter("process_cpu_seconds_total", 0.25)
        page.counter("switchboard_reloads_total", [("result", "ok", 1), ("result", "refused", 0)])
        page.gauge("switchboard_ready", 1, and: [("row", "loop", 0)])
        let times = [1, 2].map { _ in DurationHistogram(boundsUs: [1_000, 2_000_000]) }
        for us in [1_000, 10, 1_001] { times[0].record(us: us) }
        for us in [1_497_989, 2_000_001] { times[1].record(us: us) }
        page.histogram("switchboard_loop_lag_seconds", times)
        let expected = """
            # HELP switchboard_sessions Sessions open.
            # TYPE switchboard_sessions gauge
            switchboard_sessions -3
            # HELP switchboard_clock_offset_seconds How far this machine's clock is ahead of Redis's.
            # TYPE switchboard_clock_offset_seconds gauge
            switchboard_clock_offset_seconds -1.5
            # HELP switchboard_events_total Events that came for topics with members.
            # TYPE switchboard_events_total counter
            switchboard_events_total 7
            # HELP process_cpu_seconds_total Processor time of the process, in its own code and in the kernel.
            # TYPE process_cpu_seconds_total counter
            process_cpu_seconds_total 0.25
            # HELP switchboard_reloads_total Reloads of certificate and keys, taken or refused.
            # TYPE switchboard_reloads_total counter
            switchboard_reloads_total{result="ok"} 1
            switchboard_reloads_total{result="refused"} 0
            # HELP switchboard_ready Without a label: 1 while the node may be sent clients. By row: 1 while its promise holds.
            # TYPE switchboard_ready gauge
            switchboard_ready 1
            switchboard_ready{row="loop"} 0
            # HELP switchboard_loop_lag_seconds Time a tick of a shard takes: what an event may wait behind others.
            # TYPE switchboard_loop_lag_seconds histogram
            switchboard_loop_lag_seconds_bucket{le="0.001"} 2
            switchboard_loop_lag_seconds_bucket{le="2.0"} 4
            switchboard_loop_lag_seconds_bucket{le="+Inf"} 5
            switchboard_loop_lag_seconds_sum 3.500001
            switchboard_loop_lag_seconds_count 5

            """
        #expect(String(decoding: page.bytes, as: UTF8.self) == expected)
    }

    @Test func theProcessIsReadFromItsLine() throws {
        let line =
            "42 (a (b) c) S 1 42 42 0 -1 4194560 2000 0 5 0 150 50 0 0 20 0 3 0 1234 5000000 300 18446744073709551615 1"
        let figures = try #require(ProcessFigures(stat: Array(line.utf8), ticksPerSecond: 100, pageBytes: 4_096))
        #expect(figures.cpuSeconds == 2 && figures.startedSeconds == 12.34)
        #expect(figures.virtualBytes == 5_000_000 && figures.residentBytes == 300 * 4_096)
        for cut in [0, 5, 14, 40] {
            #expect(ProcessFigures(stat: Array(line.utf8.prefix(cut)), ticksPerSecond: 100, pageBytes: 4_096) == nil)
        }
        let now = try #require(ProcessFigures.read())
        #expect(now.residentBytes > 1_000_000 && now.residentBytes < now.virtualBytes && now.cpuSeconds > 0)
        #expect(try #require(ProcessFigures.bootSeconds) > 1_000_000_000)
    }
}
