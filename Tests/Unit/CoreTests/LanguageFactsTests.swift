import Testing

/// Facts of the language that make text comparison and number parsing unfit for protocols.
///
/// Each is a reason why topics, names and numbers are handled as bytes. Should one change, the rule may be relaxed.
@Suite struct LanguageFactsTests {
    @Test func stringsCompareByCanonicalEquivalence() {
        let composed = "shop:\u{e9}"
        let decomposed = "shop:e\u{301}"
        #expect(composed == decomposed)
        #expect(composed.hashValue == decomposed.hashValue)
        #expect(Array(composed.utf8) != Array(decomposed.utf8))
        #expect(Set([composed, decomposed]).count == 1, "two channels, one key")
    }

    @Test func prefixesRespectGraphemes() {
        let text = "private-\u{301}x"
        #expect(!text.hasPrefix("private-"))
        #expect(text.utf8.starts(with: "private-".utf8))
    }

    @Test func carriageReturnAndLineFeedAreOneCharacter() {
        let text = "a\r\nb"
        #expect(text.count == 3)
        #expect(!text.contains("\n" as Character))
        #expect(text.split(separator: "\n" as Character).count == 1)
        #expect(text.utf8.contains(UInt8(ascii: "\n")))
    }

    @Test func integersAcceptASign() {
        #expect(Int("+5") == 5)
        #expect(UInt("+5") == 5)
        #expect(Int("007") == 7)
    }

    @Test func doublesAcceptWhatNoProtocolMeans() {
        #expect(Double("nan")?.isNaN == true)
        #expect(Double("inf") == .infinity)
        #expect(Double("infinity") == .infinity)
        #expect(Double("0x1p3") == 8)
        #expect(Double("+1") == 1)
        #expect(Double("1e400") == .infinity)
    }
}
