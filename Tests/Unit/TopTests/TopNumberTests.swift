import Core
import Testing

@testable import Top

/// Numbers and rates, from counts that other processes wrote.
struct TopNumberTests {
    @Test func numbersAreShort() {
        #expect(
            [0, 7, 99_999, 100_000, 1_234_567, -5].map(TopNumber.count) == ["0", "7", "99999", "100k", "1.2M", "-5"])
        #expect([0, 1_023, 1_024, 91_000_000, 4 << 30].map(TopNumber.bytes) == ["0B", "1023B", "1.0K", "87M", "4.0G"])
        #expect([nil, 0, 0.5, 9.96, 600, 2e6].map(TopNumber.rate) == ["-", "0", "0.5", "10", "600", "2.0M"])
        #expect([5, 119, 120, 7_200, 172_800].map(TopNumber.seconds) == ["5s", "119s", "2m", "2h", "2d"])
        #expect([nil, 64, 16_384, 12_000_000].map(TopNumber.microseconds) == ["-", "0.0ms", "16ms", "12s"])
    }

    @Test func noNumberIsTooLarge() {
        for value in [Int.max, Int.min, Int.max - 1, -1] {
            for text in [
                TopNumber.count(value), TopNumber.bytes(value), TopNumber.seconds(value), TopNumber.microseconds(value),
            ] {
                #expect(!text.isEmpty)
            }
        }
        for value in [Double.infinity, -.infinity, .nan, 1e300, -1e300] {
            #expect(
                !TopNumber.rate(value).isEmpty && !TopNumber.byteRate(value).isEmpty
                    && !TopNumber.percent(value).isEmpty)
        }
    }

    private static func counts(_ text: String) throws -> TopCounts? {
        TopCounts(try JSON(parsing: Array(text.utf8), limits: JSON.Limits(depthMax: 8, elementsMax: 1_000)).root)
    }

    @Test func ratesAreDifferencesOfTwoAnswers() throws {
        let first = try TopNumberTests.counts(
            #"{"uptimeMs":1000,"messagesOut":100,"cpuMs":50,"loopBoundsUs":[64,128],"loopTicks":[10,5,1]}"#)
        let second = try TopNumberTests.counts(
            #"{"uptimeMs":3000,"messagesOut":500,"cpuMs":1050,"loopBoundsUs":[64,128],"loopTicks":[109,5,2]}"#)
        let rates = try #require(TopRates(from: first, to: second))
        #expect(rates.messagesOut == 200 && rates.cpu == 0.5 && rates.messagesIn == 0 && rates.lagUs == 64)
        #expect(TopRates(from: second, to: first) == nil, "another start")
        #expect(TopRates(from: first, to: first) == nil && TopRates(from: nil, to: first) == nil)
    }

    @Test func theLagIsThatOfAllButOneTickInAHundred() throws {
        let before = try TopNumberTests.counts(#"{"uptimeMs":1,"loopBoundsUs":[64,128],"loopTicks":[0,0,0]}"#)
        for (ticks, lag) in [("[100,0,0]", 64), ("[98,2,0]", 128), ("[0,0,7]", 128)] {
            let after = try TopNumberTests.counts(#"{"uptimeMs":2,"loopBoundsUs":[64,128],"loopTicks":\#(ticks)}"#)
            #expect(TopRates(from: before, to: after)?.lagUs == lag)
        }
        let empty = try TopNumberTests.counts(#"{"uptimeMs":2,"loopTicks":[7]}"#)
        #expect(TopRates(from: try TopNumberTests.counts(#"{"uptimeMs":1,"loopTicks":[1]}"#), to: empty)?.lagUs == nil)
    }

    @Test func hostileCountsDoNotTrap() throws {
        let low = try TopNumberTests.counts(
            #"{"uptimeMs":0,"messagesIn":-9223372036854775808,"loopBoundsUs":[1],"loopTicks":[-9223372036854775808,0]}"#
        )
        let high = try TopNumberTests.counts(
            #"{"uptimeMs":9223372036854775807,"messagesIn":9223372036854775807,"bytesIn":1e400,"loopBoundsUs":[1],"loopTicks":[9223372036854775807,3]}"#
        )
        #expect(TopRates(from: low, to: high) != nil)
        #expect(try TopNumberTests.counts("[]") == nil && TopNumberTests.counts("{}") == nil)
    }
}
