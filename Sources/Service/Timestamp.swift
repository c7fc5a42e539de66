/// RFC 3339 text of a wall time, in UTC.
public enum Timestamp {
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
}
