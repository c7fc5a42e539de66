import Core
import TestSupport
import Testing

@testable import Push

/// Zones against what the clocks of those places have shown and will show.
@Suite struct TimeZoneTests {
    /// A file as `zic` writes it: two headers, no change in the first block, and the rule.
    static func file(
        _ changes: [(Int, Int)], first: Int = 0, rule: String, version: UInt8 = UInt8(ascii: "2")
    ) -> [UInt8] {
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }
        func header(_ changes: Int, _ kinds: Int) -> [UInt8] {
            var bytes = Array("TZif".utf8)
            bytes.append(version)
            bytes += [UInt8](repeating: 0, count: 15)
            for count in [0, 0, 0, changes, kinds, 4] { bytes += number(count, 4) }
            return bytes
        }
        let letters = Array("LMT\0".utf8)
        var bytes = header(0, 1)
        bytes += [0, 0, 0, 0, 0, 0]
        bytes += letters
        bytes += header(changes.count, changes.count + 1)
        for change in changes { bytes += number(change.0, 8) }
        for index in changes.indices { bytes.append(UInt8(index + 1)) }
        for offset in [first] + changes.map({ $0.1 }) { bytes += number(offset, 4) + [0, 0] }
        bytes += letters
        bytes += Array("\n\(rule)\n".utf8)
        return bytes
    }

    static func zone(_ rule: String) throws -> TimeZone {
        try #require(TimeZoneFile.read(file([], rule: rule)))
    }

    static func second(_ text: String) -> Int { (Timestamp.milliseconds(Array(text.utf8)) ?? -1) / 1_000 }

    @Test(arguments: [
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-29T00:59:59Z", 3_600),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-29T01:00:00Z", 7_200),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-10-25T00:59:59Z", 7_200),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-10-25T01:00:00Z", 3_600),
        ("EST5EDT,M3.2.0,M11.1.0", "2027-03-14T06:59:59Z", -18_000),
        ("EST5EDT,M3.2.0,M11.1.0", "2027-03-14T07:00:00Z", -14_400),
        ("EST5EDT,M3.2.0,M11.1.0", "2027-11-07T05:59:59Z", -14_400),
        ("EST5EDT,M3.2.0,M11.1.0", "2027-11-07T06:00:00Z", -18_000),
        // Ireland's winter is the exception to its summer.
        ("IST-1GMT0,M10.5.0,M3.5.0/1", "2026-07-01T00:00:00Z", 3_600),
        ("IST-1GMT0,M10.5.0,M3.5.0/1", "2026-12-01T00:00:00Z", 0),
        // The south, over the turn of the year; half an hour; beyond a day; a name of digits.
        ("AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-12-31T23:00:00Z", 39_600),
        ("AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-06-01T00:00:00Z", 36_000),
        ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-01-05T00:00:00Z", 39_600),
        ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-07-05T00:00:00Z", 37_800),
        ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T00:59:59Z", -7_200),
        ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T01:00:00Z", -3_600),
        ("IST-5:30", "2026-03-29T01:00:00Z", 19_800),
        ("AAA0BBB,J60/0,J300/0", "2028-03-01T00:00:00Z", 3_600), ("AAA0BBB,J60/0,J300/0", "2028-02-29T23:59:59Z", 0),
        ("AAA0BBB,59/0,300/0", "2028-02-29T00:00:00Z", 3_600),
    ])
    func theRuleOfTheYearsToCome(_ rule: String, _ moment: String, _ offset: Int) throws {
        #expect(try TimeZoneTests.zone(rule).offset(at: TimeZoneTests.second(moment)) == offset)
    }

    @Test func changesOfThePastAreThoseOfTheFile() throws {
        let bytes = TimeZoneTests.file([(100, 3_600), (200, 7_200)], first: -60, rule: "CET-1")
        let zone = try #require(TimeZoneFile.read(bytes))
        #expect([99, 100, 199, 200, 10_000].map { zone.offset(at: $0) } == [-60, 3_600, 3_600, 3_600, 3_600])
        #expect(zone.nextChange(after: 0) == 100 && zone.nextChange(after: 100) == 200)
        #expect(zone.nextChange(after: 200) == nil)
    }

    @Test func theNextChangeOfARuleIsFound() throws {
        let zone = try TimeZoneTests.zone("CET-1CEST,M3.5.0,M10.5.0/3")
        let spring = TimeZoneTests.second("2026-03-29T01:00:00Z")
        let autumn = TimeZoneTests.second("2026-10-25T01:00:00Z")
        #expect(zone.nextChange(after: spring - 1) == spring && zone.nextChange(after: spring) == autumn)
        #expect(zone.nextChange(after: autumn) == TimeZoneTests.second("2027-03-28T01:00:00Z"))
    }

    @Test(arguments: [
        "", "C", "CET", "CET-25", "CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.5.0", "CET-1CEST",
        "CET-1CEST,M3.5.0,M10.5.0x",
        "<CET-1", "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,J0,J366",
    ])
    func whatIsNoRuleIsNone(_ text: String) {
        #expect(TimeZoneRule(Array(text.utf8)[...]) == nil)
    }

    @Test func aFileIsReadWithoutATrapWhateverItHolds() {
        let whole = TimeZoneTests.file([(100, 3_600), (200, 7_200)], rule: "CET-1CEST,M3.5.0,M10.5.0/3")
        #expect(TimeZoneFile.read(whole) != nil)
        for count in 0..<whole.count { _ = TimeZoneFile.read(Array(whole.prefix(count))) }
        var random = Seeded(81)
        for _ in 0..<4_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            guard let zone = TimeZoneFile.read(bytes) else { continue }
            for moment in [0, 150, 2_000_000_000, -1, Int(Int32.max) * 100] {
                let offset = zone.offset(at: moment)
                #expect(abs(offset) <= TimeZoneRule.offsetMax + 3_600)
                _ = zone.nextChange(after: moment)
            }
        }
        #expect(TimeZoneFile.read(TimeZoneTests.file([], rule: "CET-1", version: 0)) == nil, "of the old form")
        #expect(TimeZoneFile.read(TimeZoneTests.file([(5, 0), (5, 1)], rule: "CET-1")) == nil, "not in order")
    }

    @Test(arguments: ["Europe/Berlin", "UTC", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "EST5EDT"])
    func namesOfZones(_ name: String) { #expect(TimeZone.isName(Array(name.utf8))) }

    @Test(arguments: [
        "", "/Europe", "Europe/", "../x", "Europe/../x", "a/b/c/d", "a//b", ".", "-x", "a b", "a\0", "é",
        String(repeating: "a", count: 65),
    ])
    func whatNeverBecomesAPath(_ name: String) { #expect(!TimeZone.isName(Array(name.utf8))) }
}
