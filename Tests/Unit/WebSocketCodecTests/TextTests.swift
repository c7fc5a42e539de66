import Core
import Testing
import WebSocketCodec

/// Autobahn group 6: text is UTF-8 over the whole message, refused at the first impossible byte.
@Suite struct TextTests {
    /// Encodes a number in the UTF-8 scheme with `count` bytes (1...6), lawful or not.
    static func encode(_ value: UInt32, in count: Int) -> [UInt8] {
        if count == 1 { return [UInt8(value)] }
        let lead: [UInt8] = [0, 0, 0xc0, 0xe0, 0xf0, 0xf8, 0xfc]
        var bytes: [UInt8] = []
        var rest = value
        for _ in 1..<count {
            bytes.insert(0x80 | UInt8(rest & 0x3f), at: 0)
            rest >>= 6
        }
        return [lead[count] | UInt8(rest)] + bytes
    }

    static let greek = Array("\u{3ba}\u{1f79}\u{3c3}\u{3bc}\u{3b5}".utf8)

    // MARK: 6.1 and 6.2

    @Test func `6.1: empty messages and empty fragments are messages`() {
        expect(Wire.text(""), gives: [.text("")])
        expect(Wire.text("", fin: false) + Wire.more("", fin: false) + Wire.more(""), gives: [.text("")])
        expect(Wire.text("", fin: false) + Wire.more("middle", fin: false) + Wire.more(""), gives: [.text("middle")])
    }

    @Test func `6.2: code points may be split between frames, even one byte each`() {
        let text = Array("Hello-\u{b5}@\u{df}\u{f6}\u{e4}\u{fc}\u{e0}\u{e1}-UTF-8!! \u{1f680}".utf8)
        expect(Wire.text(text), gives: [.text(text)])
        for cut in 0...text.count {
            let bytes = Wire.text(Array(text[..<cut]), fin: false) + Wire.more(Array(text[cut...]))
            #expect(decode([bytes]) == [.text(text)])
        }
        let single = text.flatMap { Wire.more([$0], fin: false) }
        expect(Wire.text("", fin: false) + single + Wire.more(""), gives: [.text(text)])
    }

    // MARK: 6.3 and 6.4

    @Test func `6.3: an invalid text fails, whole or in fragments of one byte`() {
        let text = Self.greek + [0xed, 0xa0, 0x80] + Array("edited".utf8)
        expect(Wire.text(text), gives: [.failed(.invalidText)])
        let single = text.dropFirst().flatMap { Wire.more([$0], fin: false) }
        expect(Wire.text([text[0]], fin: false) + single + Wire.more(""), gives: [.failed(.invalidText)])
    }

    @Test func `6.4.1, 6.4.2: the fragment that makes the text invalid fails, not the last one`() {
        expect(Wire.text(Self.greek, fin: false), gives: [])
        expect(
            Wire.text(Self.greek, fin: false) + Wire.more([0xf4, 0x90, 0x80, 0x80], fin: false),
            gives: [.failed(.invalidText)])
        expect(Wire.text(Self.greek, fin: false) + Wire.more([0xf4], fin: false), gives: [])
        expect(
            Wire.text(Self.greek, fin: false) + Wire.more([0xf4], fin: false) + Wire.more([0x90], fin: false),
            gives: [.failed(.invalidText)])
    }

    @Test func `6.4.3, 6.4.4: the byte that makes an unfinished frame invalid fails`() {
        let text = Self.greek + [0xf4, 0x90, 0x80, 0x80] + Array("edited".utf8)
        let bytes = Wire.text(text)
        let header = bytes.count - text.count
        let valid = Array(bytes[..<(header + Self.greek.count + 1)])
        expect(valid, gives: [])
        expect(valid + [bytes[valid.count]], gives: [.failed(.invalidText)])
    }

    @Test func `6.4.x: a fault after a long ASCII run in an unfinished frame is found at its place`() {
        for count in [0, 1, 7, 8, 9, 31, 32, 33, 63, 64, 65, 200] {
            let text = [UInt8](repeating: 0x61, count: count) + [0x80]
            let bytes = Wire.frame(0x1, text, announced: 1_000)
            expect(bytes, gives: [.failed(.invalidText)])
            expect(bytes.dropLast(), gives: [])
        }
    }

    @Test func `6.x: binary messages may hold anything`() {
        expect(Wire.binary([0xff, 0xfe, 0xc0, 0x80]), gives: [.binary([0xff, 0xfe, 0xc0, 0x80])])
        expect(Wire.binary([0xc3], fin: false) + Wire.more([0xff]), gives: [.binary([0xc3, 0xff])])
    }

    // MARK: 6.5 to 6.23

    static let valid: [[UInt8]] =
        ["hello$world", "hello\u{a2}world", "hello\u{20ac}world", "hello\u{24b62}world"].map { Array($0.utf8) } + [
            greek
        ]
        // 6.7 and 6.9: the first and last of each length.
        + [(0, 1), (0x80, 2), (0x800, 3), (0x10000, 4), (0x7f, 1), (0x7ff, 2), (0xffff, 3), (0x10ffff, 4)]
        .map { encode($0.0, in: $0.1) }
        // 6.11: around the surrogates and the end.
        + [(0xd7ff, 3), (0xe000, 3), (0xfffd, 3), (0x10ffff, 4)].map { encode($0.0, in: $0.1) }
        // 6.22: the noncharacters of every plane.
        + (0...0x10).flatMap { (plane: UInt32) in
            [plane << 16 | 0xfffe, plane << 16 | 0xffff].map { encode($0, in: plane == 0 ? 3 : 4) }
        }
        // 6.23: the specials.
        + (0xfff9...0xffff).map { encode($0, in: 3) }

    @Test(arguments: valid)
    func `6.5 to 6.23: valid texts come out`(text: [UInt8]) {
        #expect(UTF8Text.isValid(text))
        expect(Wire.text(text), gives: [.text(text)])
    }

    static let cutShort: [[UInt8]] = [
        [0xc0], [0xe0, 0x80], [0xf0, 0x80, 0x80], [0xf8, 0x80, 0x80, 0x80], [0xfc, 0x80, 0x80, 0x80, 0x80],
        [0xdf], [0xef, 0xbf], [0xf7, 0xbf, 0xbf], [0xfb, 0xbf, 0xbf, 0xbf], [0xfd, 0xbf, 0xbf, 0xbf, 0xbf],
    ]

    static let surrogates: [UInt32] = [0xd800, 0xdb7f, 0xdb80, 0xdbff, 0xdc00, 0xdf80, 0xdfff]

    static let invalid: [[UInt8]] =
        // 6.8 and 6.10: five and six bytes, and beyond the last code point.
        [encode(0x200000, in: 5), encode(0x4000000, in: 6), encode(0x1fffff, in: 4), encode(0x3ffffff, in: 5)]
        + [encode(0x7fff_ffff, in: 6), encode(0x110000, in: 4)]
        // 6.12: continuation bytes without a lead.
        + [[0x80], [0xbf], [0x80, 0xbf], [0x80, 0xbf, 0x80], Array(0x80...0xbf)]
        // 6.13: leads without continuation.
        + [0xc0...0xdf, 0xe0...0xef, 0xf0...0xf7, 0xf8...0xfb, 0xfc...0xfd]
        .map { (leads: ClosedRange<UInt8>) in leads.flatMap { [$0, 0x20] } }
        // 6.14 and 6.15: the last byte missing, alone and in a row.
        + cutShort + [cutShort.flatMap { $0 }]
        // 6.16: bytes of no sequence.
        + [[0xfe], [0xff], [0xfe, 0xfe, 0xff, 0xff]]
        // 6.17 to 6.19: overlong "/", the largest overlong of each length, overlong NUL.
        + (2...6).map { encode(0x2f, in: $0) }
        + [(0x7f, 2), (0x7ff, 3), (0xffff, 4), (0x1fffff, 5), (0x3ffffff, 6)].map { encode($0.0, in: $0.1) }
        + (2...6).map { encode(0, in: $0) }
        // 6.20 and 6.21: surrogates, single and paired.
        + surrogates.map { encode($0, in: 3) }
        + surrogates.prefix(4).flatMap { high in [0xdc00, 0xdfff].map { encode(high, in: 3) + encode($0, in: 3) } }

    @Test(arguments: invalid)
    func `6.8 to 6.21: invalid texts fail with 1007`(text: [UInt8]) {
        expect(Wire.text(text), gives: [.failed(.invalidText)])
        expect(Wire.text(Array("ok ".utf8) + text), gives: [.failed(.invalidText)])
        expect(Wire.text(text, fin: false) + Wire.more(" "), gives: [.failed(.invalidText)])
        #expect(WebSocketFailure.invalidText.closeReason.webSocketCode == 1007)
    }

    @Test(arguments: 1...greek.count)
    func `6.6: of the prefixes of a text only those of whole code points are texts`(count: Int) {
        let text = Array(Self.greek.prefix(count))
        let isWhole = [2, 5, 7, 9, 11].contains(count)
        expect(Wire.text(text), gives: [isWhole ? .text(text) : .failed(.invalidText)])
    }

    @Test func `6.x: every code point is taken and no surrogate`() {
        var mistaken: [UInt32] = []
        for value in UInt32(0)...0x10ffff where value % 13 == 0 || value & 0xfff < 2 || value & 0xfff > 0xffd {
            let count = value < 0x80 ? 1 : value < 0x800 ? 2 : value < 0x10000 ? 3 : 4
            let isSurrogate = (0xd800...0xdfff).contains(value)
            if UTF8Text.isValid(Self.encode(value, in: count)) == isSurrogate { mistaken.append(value) }
        }
        #expect(mistaken == [])
    }
}
