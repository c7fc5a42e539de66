import RedisLink
import TestSupport
import Testing

@Suite struct BackOffTests {
    /// The least and the most that 2 000 seeded back-offs chose as their n-th pause.
    static func range(ofPause number: Int) -> ClosedRange<Int> {
        var random = Seeded(UInt64(number))
        var chosen: [Int] = []
        for _ in 0..<2_000 {
            var backOff = BackOff(minMs: 100, maxMs: 1_000)
            for _ in 1..<number { _ = backOff.next(using: &random) }
            chosen.append(backOff.next(using: &random))
        }
        return (chosen.min() ?? 0)...(chosen.max() ?? 0)
    }

    @Test(arguments: [(1, 200), (2, 400), (3, 800), (4, 1_000), (5, 1_000), (20, 1_000)])
    func theCeilingDoublesUpToTheMaximum(_ number: Int, _ ceiling: Int) {
        let range = BackOffTests.range(ofPause: number)
        #expect((100...110).contains(range.lowerBound))
        #expect(((ceiling - 10)...ceiling).contains(range.upperBound))
    }

    @Test func successStartsAgain() {
        var random = Seeded(3)
        var backOff = BackOff(minMs: 100, maxMs: 1_000)
        for _ in 0..<500 {
            for _ in 0..<5 { _ = backOff.next(using: &random) }
            backOff.succeeded()
            #expect(backOff.next(using: &random) <= 200)
            backOff.succeeded()
        }
    }

    @Test func pausesAreSpread() {
        var random = Seeded(1)
        var backOff = BackOff(minMs: 100, maxMs: 1_000)
        var pauses: Set<Int> = []
        for _ in 0..<200 {
            let pause = backOff.next(using: &random)
            #expect((100...1_000).contains(pause))
            pauses.insert(pause)
        }
        #expect(pauses.count > 100)
    }

    @Test(arguments: [(0, 0), (-5, -1), (10, 5), (1, Int.max), (Int.max, Int.max)])
    func oddBoundsDoNotTrap(_ bounds: (Int, Int)) {
        var random = Seeded(2)
        var backOff = BackOff(minMs: bounds.0, maxMs: bounds.1)
        for _ in 0..<100 { #expect(backOff.next(using: &random) >= 1) }
    }
}
