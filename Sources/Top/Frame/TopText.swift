/// Texts of other processes, made fit for a terminal: without effect on it, and of a known width.
///
/// Pure.
enum TopText {
    /// The most characters of a text that are kept; no column is wider.
    static let charactersMax = 200
    /// The end of a text that was cut.
    private static let cut: Character = "~"

    /// The text with `?` in place of every character that controls a terminal, has no width or no form.
    static func clean(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars.prefix(charactersMax) {
            result.unicodeScalars.append(isShown(scalar) ? scalar : "?")
        }
        return result
    }

    /// Columns of a cleaned text.
    static func width(_ text: String) -> Int { text.unicodeScalars.reduce(0) { $0 + width(of: $1) } }

    /// A cleaned text in exactly so many columns: cut, or filled up on the side that `isRight` names.
    static func fit(_ text: String, to columns: Int, isRight: Bool = false) -> String {
        let text = head(text, columns)
        let fill = String(repeating: " ", count: max(0, columns - width(text)))
        return isRight ? fill + text : text + fill
    }

    /// A cleaned text in at most so many columns.
    static func head(_ text: String, _ columns: Int) -> String {
        guard width(text) > columns else { return text }
        guard columns > 0 else { return "" }
        var (result, left) = ("", columns - 1)
        for scalar in text.unicodeScalars {
            left -= width(of: scalar)
            if left < 0 { break }
            result.unicodeScalars.append(scalar)
        }
        return result + String(cut)
    }

    /// Puts texts into lines of at most so many columns, two spaces between them.
    static func lines(of facts: [String], _ columns: Int) -> [String] {
        var lines: [String] = []
        for fact in facts {
            if let last = lines.last, width(last) + 2 + width(fact) <= columns {
                lines[lines.count - 1] = last + "  " + fact
            } else {
                lines.append(head(fact, columns))
            }
        }
        return lines
    }

    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        // Most are ASCII, and the tables of Unicode are slow.
        if scalar.isASCII { return scalar.value >= 0x20 && scalar.value != 0x7f }
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator,
            .nonspacingMark, .enclosingMark, .spacingMark:
            return false
        // Letters that stand for nothing are invisible, too (Hangul fillers).
        case .otherLetter: return ![0x115f, 0x1160, 0x3164, 0xffa0].contains(scalar.value)
        default: return true
        }
    }

    /// Columns of a character that is shown: East Asian wide ones and pictures take two.
    private static func width(of scalar: Unicode.Scalar) -> Int {
        switch scalar.value {
        case 0x1100...0x115e, 0x231a...0x231b, 0x23e9...0x23f3, 0x25fd...0x25fe, 0x2614...0x2615, 0x2648...0x2653,
            0x267f, 0x2693, 0x26a1, 0x26aa...0x26ab, 0x26bd...0x26be, 0x26c4...0x26c5, 0x26ce, 0x26d4, 0x26ea,
            0x26f2...0x26f3, 0x26f5, 0x26fa, 0x26fd, 0x2705, 0x270a...0x270b, 0x2728, 0x274c, 0x274e, 0x2753...0x2755,
            0x2757, 0x2795...0x2797, 0x27b0, 0x27bf, 0x2b1b...0x2b1c, 0x2b50, 0x2b55, 0x2e80...0x303e, 0x3041...0xa4cf,
            0xa960...0xa97f, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe10...0xfe19, 0xfe30...0xfe6f, 0xff00...0xff60,
            0xffe0...0xffe6, 0x16fe0...0x18cff, 0x1aff0...0x1b2ff, 0x1f004, 0x1f0cf, 0x1f18e, 0x1f191...0x1f19a,
            0x1f1e6...0x1f64f, 0x1f680...0x1f6ff, 0x1f7e0...0x1f7ff, 0x1f900...0x1f9ff, 0x1fa70...0x1faff,
            0x20000...0x3fffd:
            2
        default: 1
        }
    }
}
