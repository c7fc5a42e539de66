import Core

/// A span of time in human notation: a whole number and a unit, `90s`, `15m`, `1h`, `7d`.
public enum DurationText {
    /// The longest span, 366 days, in seconds.
    public static let secondsMax = 366 * 86_400

    /// Reads a span into seconds, 1...``secondsMax``; the unit is required.
    public static func seconds(parsing text: String) throws(ValueFault) -> Int {
        let fault = ValueFault(expected: "a time such as 90s, 15m, 1h or 7d, at most 366d")
        let bytes = Array(text.utf8)
        guard let unit = bytes.last, let number = ASCII.decimal(bytes.dropLast()), number > 0 else { throw fault }
        let factor: Int
        switch unit {
        case UInt8(ascii: "s"): factor = 1
        case UInt8(ascii: "m"): factor = 60
        case UInt8(ascii: "h"): factor = 3_600
        case UInt8(ascii: "d"): factor = 86_400
        default: throw fault
        }
        guard number <= secondsMax / factor else { throw fault }
        return number * factor
    }
}
