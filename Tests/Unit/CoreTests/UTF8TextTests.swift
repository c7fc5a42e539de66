import TestSupport
import Testing

@testable import Core

/// UTF-8 after RFC 3629 section 4, whole, byte by byte, and at every cut.
@Suite struct UTF8TextTests {
    static let valid: [[UInt8]] = [
        [], [0x00], [0x7f], [0xc2, 0x80], [0xdf, 0xbf], [0xe0, 0xa0, 0x80], [0xec, 0xbf, 0xbf], [0xed, 0x80, 0x80],
        [0xed, 0x9f, 0xbf],
        [0xee, 0x80, 0x80], [0xef, 0xbf, 0xbd], [0xef, 0xbf, 0xbe], [0xef, 0xbf, 0xbf], [0xf0, 0x90, 0x80, 0x80],
        [0xf3, 0xbf, 0xbf, 0xbf],
        [0xf4, 0x80, 0x80, 0x80], [0xf4, 0x8f, 0xbf, 0xbf], Array("κόσμε 漢字 😀 plain".utf8),
    ]
    static let invalid: [[UInt8]] = [
        [0x80], [0xbf], [0xc0, 0x80], [0xc0, 0xaf], [0xc1, 0xbf], [0xc2], [0xc2, 0x7f], [0xc2, 0xc0],
        [0xe0, 0x80, 0x80], [0xe0, 0x9f, 0xbf],
        [0xe1, 0x80], [0xe1, 0x80, 0x7f], [0xed, 0xa0, 0x80], [0xed, 0xbf, 0xbf], [0xed, 0xa0, 0x80, 0xed, 0xb0, 0x80],
        [0xf0, 0x80, 0x80, 0x80],
        [0xf0, 0x8f, 0xbf, 0xbf], [0xf0, 0x90, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xf5, 0x80, 0x80, 0x80],
        [0xf8, 0x88, 0x80, 0x80, 0x80], [0xfe],
        [0xff], [0xfc, 0x80, 0x80, 0x80, 0x80, 0x80], [0xf0, 0x9f, 0x98, 0x20],
    ]

    /// Whether the whole is valid when taken in the given pieces.
    private func accepts(_ bytes: [UInt8], cuts: [Int]) -> Bool {
        var text = UTF8Text()
        var from = 0
        for cut in cuts + [bytes.count] {
            let piece = Array(bytes[from..<cut])
            guard text.accept(piece.span) else { return false }
            from = cut
        }
        return text.isComplete
    }

    @Test(arguments: [0, 1, 6, 7, 8, 9, 15, 16, 17])
    func boundariesHoldAtEveryPlaceInABlock(_ before: Int) {
        for (texts, expected) in [(UTF8TextTests.valid, true), (UTF8TextTests.invalid, false)] {
            for text in texts {
                for after in [0, 1, 8, 20] {
                    let bytes = [UInt8](repeating: 0x61, count: before) + text + [UInt8](repeating: 0x62, count: after)
                    #expect(UTF8Text.isValid(bytes) == expected, "\(bytes)")
                    #expect(accepts(bytes, cuts: Array(0..<bytes.count)) == expected, "\(bytes)")
                    for cut in 0...bytes.count {
                        #expect(accepts(bytes, cuts: [cut]) == expected, "\(bytes) at \(cut)")
                    }
                }
            }
        }
    }

    @Test func agreesWithTheStandardLibraryOnEveryPairAndOnRandomTexts() {
        for high in UInt8(0)...255 {
            for low in UInt8(0)...255 {
                let bytes = [high, low]
                #expect(UTF8Text.isValid(bytes) == (String(validating: bytes, as: UTF8.self) != nil), "\(bytes)")
            }
        }
        let palette: [UInt8] = [
            0x61, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc1, 0xc2, 0xe0, 0xe1, 0xed, 0xef, 0xf0, 0xf3, 0xf4, 0xf5,
        ]
        for seed in UInt64(0)..<20_000 {
            var random = Seeded(seed)
            let bytes = (0..<Int.random(in: 0...6, using: &random)).map { _ in
                palette.randomElement(using: &random) ?? 0
            }
            let expected = String(validating: bytes, as: UTF8.self) != nil
            #expect(UTF8Text.isValid(bytes) == expected, "seed \(seed)")
        }
    }

    @Test(
        arguments: [
            ([0xed], 0xa0), ([0xf4], 0x90), ([0xf0], 0x8f), ([0xe0], 0x9f), ([], 0xc1),
        ] as [([UInt8], UInt8)])
    func failsAtTheFirstImpossibleByte(_ start: [UInt8], _ impossible: UInt8) {
        var text = UTF8Text()
        let started = text.accept(start.span)
        let ended = text.accept(impossible)
        #expect(started && !ended)
    }
}
