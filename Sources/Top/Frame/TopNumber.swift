/// Numbers as short texts for columns.
///
/// Pure. Numbers may come from other processes, so none is too large or too small.
enum TopNumber {
    /// A number without a fraction; beyond 99,999 in thousands, millions and so on.
    static func count(_ value: Int) -> String {
        value.magnitude < 100_000 ? "\(value)" : scaled(value, by: 1_000, ["", "k", "M", "G", "T", "P", "E"])
    }

    /// Bytes in powers of 1,024.
    static func bytes(_ value: Int) -> String { scaled(value, by: 1_024, ["B", "K", "M", "G", "T", "P", "E"]) }

    /// A number in each second; `-` while it is not known.
    static func rate(_ value: Double?) -> String {
        guard let value, value.isFinite else { return "-" }
        let tenths = whole(value * 10)
        return tenths.magnitude < 100 && !tenths.isMultiple(of: 10) ? tenth(tenths) : count(whole(value))
    }

    /// Bytes in each second; `-` while they are not known.
    static func byteRate(_ value: Double?) -> String { value.map { bytes(whole($0)) } ?? "-" }

    /// A share in percent; `-` while it is not known.
    static func percent(_ share: Double?) -> String { share.map { "\(whole($0 * 100))%" } ?? "-" }

    /// A span with one unit.
    static func seconds(_ value: Int) -> String {
        switch value {
        case ..<120: "\(max(0, value))s"
        case ..<7_200: "\(value / 60)m"
        case ..<172_800: "\(value / 3_600)h"
        default: "\(value / 86_400)d"
        }
    }

    /// A short span of microseconds; `-` while it is not known.
    static func microseconds(_ value: Int?) -> String {
        guard let value else { return "-" }
        switch value {
        case ..<10_000: return tenth(max(0, value) / 100) + "ms"
        case ..<10_000_000: return "\(value / 1_000)ms"
        default: return seconds(value / 1_000_000)
        }
    }

    /// The nearest whole number; the largest for one that does not fit, 0 for none.
    static func whole(_ value: Double) -> Int {
        guard !value.isNaN else { return 0 }
        return Int(exactly: value.rounded()) ?? (value < 0 ? Int.min : Int.max)
    }

    private static func tenth(_ tenths: Int) -> String { "\(tenths / 10).\(tenths.magnitude % 10)" }

    private static func scaled(_ value: Int, by base: Int, _ units: [String]) -> String {
        var (rest, place) = (Double(value), 0)
        while rest.magnitude >= Double(base), place < units.count - 1 {
            rest /= Double(base)
            place += 1
        }
        guard place > 0, rest.magnitude < 9.95 else { return "\(whole(rest))" + units[place] }
        return tenth(whole(rest * 10)) + units[place]
    }
}
