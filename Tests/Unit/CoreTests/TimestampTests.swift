import Core
import Testing

@Suite struct TimestampTests {
    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (1, "1970-01-01T00:00:00.001Z"), (86_399_999, "1970-01-01T23:59:59.999Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"), (951_868_800_000, "2000-03-01T00:00:00.000Z"),
        (1_709_164_800_000, "2024-02-29T00:00:00.000Z"), (1_709_251_199_999, "2024-02-29T23:59:59.999Z"),
        (1_709_251_200_000, "2024-03-01T00:00:00.000Z"), (1_740_787_199_999, "2025-02-28T23:59:59.999Z"),
        (1_740_787_200_000, "2025-03-01T00:00:00.000Z"), (1_735_689_599_999, "2024-12-31T23:59:59.999Z"),
        (1_735_689_600_000, "2025-01-01T00:00:00.000Z"), (1_767_225_599_000, "2025-12-31T23:59:59.000Z"),
        (4_107_542_399_000, "2100-02-28T23:59:59.000Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
    ])
    func wallTimeIsWrittenAsRFC3339(_ wallMs: Int, _ text: String) {
        #expect(Timestamp.text(wallMs: wallMs) == text)
    }

    @Test func everyDayOfFourHundredYearsFollowsTheOneBefore() {
        var (year, month, day) = (1970, 1, 1)
        for number in 0..<146_097 {
            func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
            let text = Timestamp.text(wallMs: number * 86_400_000)
            guard text == "\(year)-\(two(month))-\(two(day))T00:00:00.000Z" else {
                Issue.record("day \(number) is not \(text)")
                return
            }
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            let length = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
            day += 1
            if day > length { (month, day) = (month + 1, 1) }
            if month > 12 { (year, month) = (year + 1, 1) }
        }
    }
}
