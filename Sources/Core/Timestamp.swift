/// Moments as text of RFC 3339 (the profile of ISO 8601 for the internet).
public enum Timestamp {
    /// The accepted moments: from 1970 to the end of 9999, in milliseconds.
    public static let range = 0...253_402_300_799_999

    /// Milliseconds since 1970 of a text such as `2026-11-21T10:20:05.5+01:00`; `nil` for anything else.
    ///
    /// The date, `T`, hours, minutes and seconds, a fraction of 1...9 digits if any, and the zone, `Z` or `+hh:mm`. The
    /// letters are capitals. Digits beyond milliseconds are cut off. No leap second: clocks of computers have none.
    public static func milliseconds(_ text: [UInt8]) -> Int? {
        var reader = Reader(rest: text[...])
        guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2), reader.skip("-"),
            let day = reader.number(2), reader.skip("T"), let hour = reader.number(2), reader.skip(":"),
            let minute = reader.number(2), reader.skip(":"), let second = reader.number(2),
            let fraction = reader.fraction(), let zone = reader.zone(), reader.rest.isEmpty,
            (1...12).contains(month), (1...days(of: month, year)).contains(day), hour < 24, minute < 60, second < 60
        else { return nil }
        // At most 9999 years of milliseconds: far from any overflow.
        let minutes = (daysSince1970(year, month, day) * 24 + hour) * 60 + minute - zone
        return (minutes * 60 + second) * 1_000 + fraction
    }

    /// `2026-11-20T19:48:59.123Z`.
    ///
    /// Days to date after the proleptic Gregorian calendar.
    public static func text(wallMs: Int) -> String {
        let (days, inDay) = (wallMs / 86_400_000, wallMs % 86_400_000)
        // Counting years from March makes the leap day the last of the year.
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        func padded(_ value: Int, _ width: Int) -> String {
            let digits = String(value)
            return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
        }
        let (hour, minute, second) = (inDay / 3_600_000, inDay / 60_000 % 60, inDay / 1_000 % 60)
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T\(padded(hour, 2)):\(padded(minute, 2)):"
            + "\(padded(second, 2)).\(padded(inDay % 1_000, 3))Z"
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func number(_ digits: Int) -> Int? {
            let text = rest.prefix(digits)
            guard text.count == digits, text.allSatisfy({ ASCII.isDigit($0) }) else { return nil }
            rest = rest.dropFirst(digits)
            return text.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }

        mutating func skip(_ mark: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: mark) else { return false }
            rest = rest.dropFirst()
            return true
        }

        /// Milliseconds; 0 when there is no fraction.
        mutating func fraction() -> Int? {
            guard skip(".") else { return 0 }
            let digits = rest.prefix { ASCII.isDigit($0) }
            guard (1...9).contains(digits.count) else { return nil }
            rest = rest.dropFirst(digits.count)
            let padded = Array(digits.prefix(3)) + [0x30, 0x30]
            return padded.prefix(3).reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }

        /// Minutes east of UTC.
        mutating func zone() -> Int? {
            if skip("Z") { return 0 }
            let isEast = rest.first == UInt8(ascii: "+")
            guard skip("+") || skip("-"), let hours = number(2), skip(":"), let minutes = number(2), hours < 24,
                minutes < 60
            else { return nil }
            return (hours * 60 + minutes) * (isEast ? 1 : -1)
        }
    }

    private static func isLeap(_ year: Int) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    private static func days(of month: Int, _ year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days from 1970-01-01 to a date of a month 1...12, in the Gregorian calendar of all years from 0.
    public static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        var days = day - 1
        for earlier in 1..<month { days += Timestamp.days(of: earlier, year) }
        let before = year - 1
        // Division rounds towards zero, and year 0 precedes all leap days counted here.
        let leapDays = year == 0 ? -1 : before / 4 - before / 100 + before / 400
        return days + before * 365 + leapDays - 719_162
    }
}
