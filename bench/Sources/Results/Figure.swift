import Glibc

/// Numbers in readable form: thousands grouped, three significant digits, the unit chosen by the caller.
enum Figure {
    /// `12,345`.
    static func whole(_ number: Int) -> String {
        let digits = String(number.magnitude)
        var out = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { out.append(",") }
            out.append(digit)
        }
        return number < 0 ? "-" + out : out
    }

    /// Three significant digits: `0.0123`, `1.23`, `12.3`, `12,345`; `-` for a value that is no finite number.
    static func short(_ number: Double) -> String {
        guard number.isFinite, abs(number) < 1e15 else { return "-" }
        let size = abs(number)
        switch size {
        case 0: return "0"
        case ..<0.0995: return fixed(number, 3)
        case ..<9.995: return fixed(number, 2)
        case ..<99.95: return fixed(number, 1)
        default: return whole(Int(number.rounded()))
        }
    }

    /// A number with `places` digits after the point; at most 6.
    static func fixed(_ number: Double, _ places: Int) -> String {
        guard number.isFinite, abs(number) < 1e12 else { return "-" }
        var scale = 1
        for _ in 0..<min(max(places, 0), 6) { scale *= 10 }
        let scaled = Int((abs(number) * Double(scale)).rounded())
        let sign = number < 0 && scaled > 0 ? "-" : ""
        guard scale > 1 else { return sign + whole(scaled) }
        let rest = String(scaled % scale)
        return sign + whole(scaled / scale) + "." + String(repeating: "0", count: places - rest.count) + rest
    }

    /// A latency with its unit: `850 µs`, `1.25 ms`, `3.40 s`.
    static func latency(_ microseconds: Int) -> String {
        switch microseconds {
        case ..<1_000: "\(microseconds) µs"
        case ..<1_000_000: short(Double(microseconds) / 1_000) + " ms"
        default: short(Double(microseconds) / 1_000_000) + " s"
        }
    }

    /// A number shortened for a narrow place: `1,600`, `12.3k`, `1.52M`.
    static func rounded(_ number: Double) -> String {
        guard number.isFinite else { return "-" }
        switch abs(number) {
        case ..<9_999.5: return fixed(number, 0)
        case ..<999_500: return short(number / 1_000) + "k"
        default: return short(number / 1_000_000) + "M"
        }
    }
}
