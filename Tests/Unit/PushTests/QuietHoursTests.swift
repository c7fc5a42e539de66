import Core
import FoundationEssentials
import TestSupport
import Testing

@testable import Push

/// Quiet hours by the clocks of a place, on usual days and on those on which clocks are set.
@Suite struct QuietHoursTests {
    static let berlin = "CET-1CEST,M3.5.0,M10.5.0/3"

    static func ms(_ text: String) -> Int { Timestamp.milliseconds(Array(text.utf8)) ?? -1 }

    static func hours(_ from: Int, _ to: Int) throws -> QuietHours {
        try #require(QuietHours(from: from * 60, to: to * 60, mode: .hold))
    }

    @Test(
        arguments: [
            // Over midnight, and within a day, both by summer time.
            (22, 7, "2026-07-01T19:59:59Z", nil), (22, 7, "2026-07-01T20:00:00Z", "2026-07-02T05:00:00Z"),
            (22, 7, "2026-07-02T04:59:59.9Z", "2026-07-02T05:00:00Z"), (22, 7, "2026-07-02T05:00:00Z", nil),
            (13, 15, "2026-07-01T11:30:00Z", "2026-07-01T13:00:00Z"), (13, 15, "2026-07-01T20:00:00Z", nil),
            // The night on which an hour is left out is an hour shorter, that on which one comes twice an hour longer.
            (22, 7, "2026-03-28T21:00:00Z", "2026-03-29T05:00:00Z"),
            (22, 7, "2026-10-24T20:00:00Z", "2026-10-25T06:00:00Z"),
            // The hours end within the hour that is left out: as soon as clocks are set. Or they begin in it.
            (0, 2, "2026-03-29T00:30:00Z", "2026-03-29T01:00:00Z"),
            (2, 3, "2026-03-29T00:59:00Z", nil), (2, 3, "2026-03-29T01:00:00Z", nil),
            // The hour that comes twice is quiet twice; before it and between nothing is lost.
            (2, 3, "2026-10-25T00:30:00Z", "2026-10-25T02:00:00Z"),
            (2, 3, "2026-10-25T01:30:00Z", "2026-10-25T02:00:00Z"),
            (0, 2, "2026-10-24T23:00:00Z", "2026-10-25T00:00:00Z"), (0, 2, "2026-10-25T00:30:00Z", nil),
        ] as [(Int, Int, String, String?)])
    func theClocksOfThePlaceSayWhenTheyEnd(_ from: Int, _ to: Int, _ moment: String, _ end: String?) throws {
        let zone = try TimeZoneTests.zone(QuietHoursTests.berlin)
        let quiet = try QuietHoursTests.hours(from, to)
        let now = QuietHoursTests.ms(moment)
        #expect(quiet.contains(now, in: zone) == (end != nil))
        #expect(quiet.end(after: now, in: zone) == end.map(QuietHoursTests.ms) ?? now)
    }

    @Test func anEndThatComesTwiceEndsTwice() throws {
        let zone = try TimeZoneTests.zone(QuietHoursTests.berlin)
        let quiet = try #require(QuietHours(from: 22 * 60, to: 150, mode: .hold))
        func end(_ text: String) -> Int { quiet.end(after: QuietHoursTests.ms(text), in: zone) }
        #expect(end("2026-10-24T22:00:00Z") == QuietHoursTests.ms("2026-10-25T00:30:00Z"))
        #expect(!quiet.contains(QuietHoursTests.ms("2026-10-25T00:45:00Z"), in: zone))
        #expect(end("2026-10-25T01:10:00Z") == QuietHoursTests.ms("2026-10-25T01:30:00Z"))
    }

    /// The end is the first moment that is not quiet, looked for minute by minute.
    @Test(arguments: [
        berlin, "EST5EDT,M3.2.0,M11.1.0", "AEST-10AEDT,M10.1.0,M4.1.0/3", "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
        "IST-1GMT0,M10.5.0,M3.5.0/1", "IST-5:30",
    ])
    func theEndIsTheFirstMinuteThatIsNotQuiet(_ rule: String) throws {
        let zone = try TimeZoneTests.zone(rule)
        var random = Seeded(15)
        let starts = ["2026-03-28", "2026-10-24", "2026-03-07", "2026-10-31", "2026-04-04", "2026-10-03"]
        for day in starts {
            for _ in 0..<2 {
                let (from, to) = (Int.random(in: 0..<1_440, using: &random), Int.random(in: 0..<1_440, using: &random))
                guard let quiet = QuietHours(from: from, to: to, mode: .hold) else { continue }
                let minutes = Int.random(in: 0..<2_880, using: &random)
                let now = QuietHoursTests.ms(day + "T00:00:00Z") + minutes * 60_000
                var first = now
                while quiet.contains(first, in: zone) { first += 60_000 }
                #expect(quiet.end(after: now, in: zone) == first, "\(rule) \(day) \(from)-\(to) at \(now)")
            }
        }
    }

    @Test func hoursWithoutEndAreNone() {
        #expect(QuietHours(from: 60, to: 60, mode: .hold) == nil && QuietHours(from: 0, to: 1_440, mode: .hold) == nil)
        #expect(QuietHours(from: -1, to: 5, mode: .silent) == nil)
    }

    /// The system's own files say the same as the rules above.
    @Test func theDatabaseOfTheSystemIsRead() throws {
        var asked = 0
        var zones = ZoneLibrary { name in
            asked += 1
            return (try? Data(contentsOf: URL(filePath: ZoneLibrary.directory + name))).map { Array($0) }
        }
        let found = zones.zone(Array("Europe/Berlin".utf8))
        let berlin = try #require(found)
        let rule = try TimeZoneTests.zone(QuietHoursTests.berlin)
        for day in stride(from: 0, to: 400, by: 3) {
            let second = TimeZoneTests.second("2026-01-01T00:00:00Z") + day * 86_400
            #expect(berlin.offset(at: second) == rule.offset(at: second))
        }
        #expect(berlin.offset(at: TimeZoneTests.second("1985-07-01T00:00:00Z")) == 7_200)
        let others = ["Europe/Nowhere", "Europe/Nowhere", "../passwd"].map { zones.zone(Array($0.utf8)) }
        #expect(others == [nil, nil, nil] && asked == 2)
    }
}
