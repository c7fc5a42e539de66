/// Cleans input for a line of a terminal or a log.
public enum PrintableText {
    /// The text with control characters replaced by `?`, cut after `charactersMax` characters.
    public static func clean(_ text: String, charactersMax: Int = 120) -> String {
        var result = ""
        for (index, scalar) in text.unicodeScalars.enumerated() {
            if index == charactersMax { return result + "..." }
            result.unicodeScalars.append(isControl(scalar) ? "?" : scalar)
        }
        return result
    }

    /// The path of a file with control characters replaced by `?`, as long as Linux takes one: its end names the file.
    public static func path(_ text: String) -> String { clean(text, charactersMax: 4_096) }

    /// ``clean(_:)`` in double quotes.
    public static func quoted(_ text: String) -> String { "\"" + clean(text) + "\"" }

    /// Whether the text holds a control character; none may reach a path, a header or a log.
    public static func hasControl(_ text: String) -> Bool { text.unicodeScalars.contains(where: isControl) }

    /// C0, DEL, C1, and the characters that turn the direction of a line or break it.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7f..<0xa0, 0x200e...0x200f, 0x2028...0x202e, 0x2066...0x2069: true
        default: false
        }
    }
}
