/// The bytes by which a terminal shows lines.
///
/// Pure. Sequences are those of ECMA-48 and xterm; a terminal without them gets plain text.
struct TopScreen {
    /// Whether the terminal understands sequences.
    let hasSequences: Bool
    /// Whether troubles are shown in colour (no-color.org).
    let hasColour: Bool
    /// Whether it shows UTF-8; without it, a byte of a letter could be a control character.
    let isUnicode: Bool

    /// The capabilities that the environment names; `value` returns a variable of it.
    init(isTerminal: Bool, _ value: (String) -> String?) {
        let kind = value("TERM") ?? ""
        hasSequences = isTerminal && !kind.isEmpty && kind != "dumb"
        hasColour = hasSequences && (value("NO_COLOR") ?? "").isEmpty
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { value($0) }.first { !$0.isEmpty } ?? ""
        let word = locale.lowercased()
        isUnicode = word.contains("utf-8") || word.contains("utf8")
    }

    /// Switches to a screen of its own, hides the cursor, and keeps lines from wrapping.
    var enter: String { hasSequences ? "\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l\u{1b}[2J" : "" }

    /// Undoes ``enter``.
    var leave: String { hasSequences ? "\u{1b}[0m\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l" : "" }

    /// The bytes of a frame, which replaces the one before.
    func bytes(_ lines: [TopLine]) -> [UInt8] {
        guard hasSequences else { return Array((lines.map(\.text).map(shown).joined(separator: "\n") + "\n\n").utf8) }
        var text = "\u{1b}[H"
        for (place, line) in lines.enumerated() {
            // The line is cleared first: at the last column it would take the last character.
            text += (place == 0 ? "" : "\r\n") + "\u{1b}[2K" + styled(line)
        }
        return Array((text + "\u{1b}[J").utf8)
    }

    /// A text as this terminal shows it.
    func shown(_ text: String) -> String {
        guard !isUnicode, !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
        return text.unicodeScalars.reduce(into: "") { result, scalar in
            result +=
                scalar.isASCII ? String(Character(scalar)) : String(repeating: "?", count: TopText.width("\(scalar)"))
        }
    }

    private func styled(_ line: TopLine) -> String {
        let text = shown(line.text)
        return switch line.style {
        case .plain: text
        case .heading: "\u{1b}[7m\(text)\u{1b}[0m"
        case .warning: (hasColour ? "\u{1b}[1;31m" : "\u{1b}[1m") + text + "\u{1b}[0m"
        }
    }
}
