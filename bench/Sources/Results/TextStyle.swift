import Glibc

/// The style of text for people: with colour on a terminal, without anywhere else.
struct TextStyle {
    let isTerminal: Bool
    let hasColour: Bool

    static let plain = TextStyle(isTerminal: false, hasColour: false)

    /// The style for a descriptor; `NO_COLOR` (no-color.org) and `TERM=dumb` switch colour off.
    static func of(_ descriptor: Int32) -> TextStyle {
        let isTerminal = isatty(descriptor) == 1
        return TextStyle(
            isTerminal: isTerminal, hasColour: isTerminal && variable("NO_COLOR").isEmpty && variable("TERM") != "dumb")
    }

    func bold(_ text: String) -> String { wrapped(text, "1") }
    func faint(_ text: String) -> String { wrapped(text, "2") }
    func bad(_ text: String) -> String { wrapped(text, "1;31") }
    func good(_ text: String) -> String { wrapped(text, "32") }

    private func wrapped(_ text: String, _ code: String) -> String {
        hasColour ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }

    private static func variable(_ name: String) -> String {
        unsafe getenv(name).map { unsafe String(cString: $0) } ?? ""
    }
}
