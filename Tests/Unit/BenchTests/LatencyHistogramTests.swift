import FoundationEssentials
import Testing

@testable import switchboard_bench

@Suite struct LatencyHistogramTests {
    private func histogram(_ values: [Int]) -> LatencyHistogram {
        var histogram = LatencyHistogram()
        for value in values { histogram.add(value) }
        return histogram
    }

    /// Values of all sizes.
    private func values(_ seed: UInt64, _ count: Int) -> [Int] {
        var state = seed
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(truncatingIfNeeded: (state >> 11) >> (state % 53))
        }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>) func mergedIsThatOfAll(_ seed: UInt64) throws {
        let (some, others) = (values(seed, 200), values(seed &* 77, Int(seed) * 10))
        var merged = histogram(some)
        merged.merge(histogram(others))
        #expect(merged == histogram(some + others), "seed \(seed)")
        merged.merge(LatencyHistogram())
        #expect(merged == histogram(some + others), "seed \(seed)")
        let read = try JSONDecoder().decode(LatencyHistogram.self, from: JSONEncoder().encode(merged))
        #expect(read == merged, "seed \(seed)")
    }

    /// No percentile is below the true one, or more than a 32nd above it.
    @Test(arguments: 1...20 as ClosedRange<UInt64>) func percentilesAreNear(_ seed: UInt64) throws {
        let all = values(seed, 500)
        let (histogram, sorted) = (histogram(all), all.sorted())
        for share in [0, 0.1, 0.5, 0.9, 0.99, 0.999, 1] {
            let exact = sorted[min(Int(Double(all.count) * share), all.count - 1)]
            let told = try #require(histogram.percentile(share))
            #expect(told >= exact && told <= exact + exact / 32, "seed \(seed), \(share): \(told) for \(exact)")
        }
        #expect(histogram.percentile(1) == sorted.last)
    }

    @Test func theReportHoldsTheWholeHistogram() throws {
        let figures = try #require(histogram([5, 5, 40, 1_000_000]).figures)
        #expect(figures.count == 4)
        #expect(figures.buckets.map { $0[1] } == [2, 1, 1])
        #expect(figures.buckets.first == [5, 2])
        #expect(figures.maxUs == 1_000_000)
        #expect(LatencyHistogram().figures == nil)
    }

    @Test func whatIsEmptyStaysEmpty() throws {
        var emptied = histogram([1, 70, 900])
        emptied.removeAll()
        #expect(emptied == LatencyHistogram())
        #expect(try JSONEncoder().encode(emptied) == Data("[]".utf8))
    }

    @Test(arguments: ["[1]x", "[5,2048,1]", "[5,-1,1]", "[5,3,0]", "[5,3]", "[-5,3,1]", "{}"])
    func noHistogram(_ text: String) {
        #expect(throws: (any Error).self) { try JSONDecoder().decode(LatencyHistogram.self, from: Data(text.utf8)) }
    }
}
