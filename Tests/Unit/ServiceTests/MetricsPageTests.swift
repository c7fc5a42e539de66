import Testing

@testable import Service

@Suite struct MetricsPageTests {
    @Test func theTextFormatIsPrometheus() {
        var page = MetricsPage()
        page.gauge("a", "What a is.", -3)
        page.counter("b_total", "What b is.", 7)
        page.counter("c_total", "By kind.", [("kind", "x", 1), ("kind", "y", 0)])
        page.histogram("d_seconds", "Times.", boundsUs: [1_000, 2_000_000], counts: [2, 3, 4], sumUs: 1_500_000)
        let expected = """
            # HELP a What a is.
            # TYPE a gauge
            a -3
            # HELP b_total What b is.
            # TYPE b_total counter
            b_total 7
            # HELP c_total By kind.
            # TYPE c_total counter
            c_total{kind="x"} 1
            c_total{kind="y"} 0
            # HELP d_seconds Times.
            # TYPE d_seconds histogram
            d_seconds_bucket{le="0.001"} 2
            d_seconds_bucket{le="2.0"} 5
            d_seconds_bucket{le="+Inf"} 9
            d_seconds_sum 1.5
            d_seconds_count 9

            """
        #expect(String(decoding: page.bytes, as: UTF8.self) == expected)
    }
}
