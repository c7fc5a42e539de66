import TestSupport
import Testing

@testable import Core

@Suite struct Base64Tests {
    /// RFC 4648 section 10.
    @Test(arguments: [
        ("", "", ""), ("f", "Zg==", "Zg"), ("fo", "Zm8=", "Zm8"), ("foo", "Zm9v", "Zm9v"),
        ("foob", "Zm9vYg==", "Zm9vYg"),
        ("fooba", "Zm9vYmE=", "Zm9vYmE"), ("foobar", "Zm9vYmFy", "Zm9vYmFy"), ("\u{fb}\u{ff}", "w7vDvw==", "w7vDvw"),
    ])
    func vectors(_ plain: String, _ standard: String, _ url: String) {
        #expect(Base64.encode(plain.utf8, .standard) == Array(standard.utf8))
        #expect(Base64.encode(plain.utf8, .url) == Array(url.utf8))
        #expect(Base64.decode(standard.utf8, .standard) == Array(plain.utf8))
        #expect(Base64.decode(url.utf8, .url) == Array(plain.utf8))
    }

    @Test func theAlphabetsDifferInTwoDigits() {
        #expect(Base64.encode([0xfb, 0xff, 0xfe], .standard) == Array("+//+".utf8))
        #expect(Base64.encode([0xfb, 0xff, 0xfe], .url) == Array("-__-".utf8))
        #expect(Base64.decode("+//+".utf8, .url) == nil)
        #expect(Base64.decode("-__-".utf8, .standard) == nil)
    }

    @Test(arguments: [
        "Z", "Zg", "Zg=", "Zg===", "=", "==", "===", "====", "Z===", "Zh==", "Zm9=", "Zm8=Zm8=", "Zg==Zg==", "Z=g=",
        "=Zg=", "Zg= ", "Zm9v\n", " Zm9v", "Zm 9v",
        "Zm9v\0\0\0\0", "Zm9é", "Zm9v=",
    ])
    func standardHasOneSpellingPerValue(_ text: String) {
        #expect(Base64.decode(text.utf8, .standard) == nil)
    }

    @Test(arguments: ["Z", "Zg==", "Zh", "Zm9", "Zm8=", "Zm9vY", "Zm.v", "Zm9v\n", "=", "é"])
    func urlHasOneSpellingPerValue(_ text: String) {
        #expect(Base64.decode(text.utf8, .url) == nil)
    }

    @Test func randomBytesComeBack() {
        for seed in UInt64(0)..<500 {
            var random = Seeded(seed)
            let bytes = (0..<Int(seed % 67)).map { _ in UInt8.random(in: 0...255, using: &random) }
            for alphabet in [Base64.Alphabet.standard, .url] {
                let text = Base64.encode(bytes, alphabet)
                #expect(Base64.decode(text, alphabet) == bytes, "seed \(seed)")
                #expect(alphabet == .url || text.count == (bytes.count + 2) / 3 * 4)
            }
        }
    }

    @Test func everyAcceptedTextIsTheOneThatEncodes() {
        let palette = Array("AQZgw9+/-_=\n".utf8)
        for seed in UInt64(0)..<20_000 {
            var random = Seeded(seed)
            let text = (0..<Int.random(in: 0...8, using: &random)).map { _ in palette.randomElement(using: &random) ?? 0
            }
            for alphabet in [Base64.Alphabet.standard, .url] {
                guard let bytes = Base64.decode(text, alphabet) else { continue }
                #expect(Base64.encode(bytes, alphabet) == text, "seed \(seed)")
            }
        }
    }
}
