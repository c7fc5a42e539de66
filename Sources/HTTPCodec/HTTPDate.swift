import Core

/// Dates in HTTP's one format, such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 section 5.6.7).
public enum HTTPDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    /// The last second of the year 9999: the format has four digits for the year.
    private static let lastSecond = 253_402_300_799

    /// Formats a time for the `Date` field.
    ///
    /// - Parameter unixSeconds: Seconds since 1970, UTC; a time outside the years 1970...9999 counts as the nearer end.
    public static func value(unixSeconds: Int) -> HTTPHeaderValue {
        let seconds = min(max(unixSeconds, 0), lastSecond)
        let dayNumber = seconds / 86_400
        let clock = seconds % 86_400
        let (year, month, day) = civil(dayNumber)
        var text: [UInt8] = []
        text.append(text: days[dayNumber % 7] + ", ")
        appendTwoDigits(day, to: &text)
        text.append(text: " " + months[month - 1] + " ")
        text.append(decimal: year)
        for (mark, part) in [(" ", clock / 3_600), (":", clock / 60 % 60), (":", clock % 60)] {
            text.append(text: mark)
            appendTwoDigits(part, to: &text)
        }
        text.append(text: " GMT")
        return HTTPHeaderValue(text) ?? ""
    }

    private static func appendTwoDigits(_ number: Int, to text: inout [UInt8]) {
        if number < 10 { text.append(text: "0") }
        text.append(decimal: number)
    }

    /// The date of a day counted from 1970, in the Gregorian calendar.
    ///
    /// Years are counted from March, so that the leap day is a year's last; 400 years have 146 097 days.
    private static func civil(_ dayNumber: Int) -> (year: Int, month: Int, day: Int) {
        let sinceEra = dayNumber + 719_468
        let era = sinceEra / 146_097
        let dayOfEra = sinceEra % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }
}
