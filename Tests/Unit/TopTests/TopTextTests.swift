import Testing

@testable import Top

/// Texts of other processes can neither control the terminal nor shift its columns.
struct TopTextTests {
    @Test(arguments: [
        "\u{1b}[2Jgone", "a\u{9b}31m", "a\r\nb", "tab\tbell\u{07}", "del\u{7f}", "\u{200b}\u{feff}\u{ad}none",
        "\u{202e}turned", "\u{2066}isolated\u{2069}", "zalgo\u{300}\u{301}\u{302}", "\u{e000}private",
        "\u{e0041}tag", "filler\u{3164}", "\u{2028}line",
    ])
    func nothingThatControlsATerminalIsLeft(text: String) {
        let clean = TopText.clean(text)
        #expect(clean.contains("?"))
        for scalar in clean.unicodeScalars {
            #expect(scalar.value >= 0x20 && !(0x7f..<0xa0).contains(scalar.value))
            #expect(![.control, .format, .nonspacingMark].contains(scalar.properties.generalCategory))
        }
        #expect(TopText.width(clean) >= clean.unicodeScalars.count)
    }

    @Test func lettersOfAllLanguagesStay() {
        for text in ["ann", "josé", "Ольга", "김서연", "😀", "shop:42#log"] { #expect(TopText.clean(text) == text) }
    }

    @Test func aLongTextIsBounded() {
        #expect(TopText.clean(String(repeating: "x", count: 100_000)).count == TopText.charactersMax)
    }

    @Test func aTextTakesExactlyItsColumns() {
        for text in ["", "a", "abcdefgh", "김서연김서연", "a김b서c연", "😀😀😀😀😀"] {
            for columns in 0...12 {
                for isRight in [false, true] {
                    #expect(
                        TopText.width(TopText.fit(text, to: columns, isRight: isRight)) == columns, "\(text) \(columns)"
                    )
                }
            }
        }
        #expect(TopText.fit("abcdef", to: 4) == "abc~")
        #expect(TopText.fit("ab", to: 4, isRight: true) == "  ab")
    }

    @Test func factsFillLines() {
        #expect(TopText.lines(of: ["one", "two", "three"], 10) == ["one  two", "three"])
        #expect(TopText.lines(of: ["a very long fact"], 8) == ["a very ~"])
        #expect(TopText.lines(of: [], 8).isEmpty)
    }
}
