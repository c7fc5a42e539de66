import Core
import TestSupport
import Testing

@testable import Connections

@Suite struct ProxyHeaderTests {
    static let signature: [UInt8] = [0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a]
    /// The PROXY header is over where these begin.
    static let after = Array("GET / HTTP/1.1\r\n".utf8)

    static func feed(_ bytes: [UInt8]) -> ProxyHeader.Step {
        var header = ProxyHeader()
        return header.feed(bytes.span)
    }

    /// Version 2: command, family, address bytes.
    static func binary(_ command: UInt8, _ family: UInt8, _ rest: [UInt8]) -> [UInt8] {
        signature + [command, family, UInt8(rest.count >> 8), UInt8(rest.count & 0xff)] + rest
    }

    static let four: [UInt8] = [192, 0, 2, 7, 198, 51, 100, 1, 0x10, 0x20, 0x01, 0xbb]
    static let six: [UInt8] = [0x20, 0x01, 0x0d, 0xb8] + Array(repeating: 0, count: 11) + [9]
    static let ports: [UInt8] = [0, 1, 0, 2]

    /// Well-formed headers and the source each names; an empty text keeps the socket's own address.
    static let accepted: [(header: [UInt8], source: String)] = [
        (Array("PROXY TCP4 192.0.2.7 198.51.100.1 4128 443\r\n".utf8), "192.0.2.7"),
        (Array("PROXY TCP4 0.0.0.0 255.255.255.255 0 65535\r\n".utf8), "0.0.0.0"),
        (Array("PROXY TCP6 2001:db8::9 ::1 4128 443\r\n".utf8), "2001:db8::9"),
        (Array("PROXY TCP6 ::ffff:192.0.2.7 ::1 4128 443\r\n".utf8), "192.0.2.7"),
        (Array("PROXY UNKNOWN\r\n".utf8), ""),
        (Array("PROXY UNKNOWN ffff:f...f:ffff 65535 anything\r\n".utf8), ""),
        (Array("PROXY UNKNOWN \(String(repeating: "x", count: 91))\r\n".utf8), ""),
        (binary(0x21, 0x11, four), "192.0.2.7"),
        (binary(0x21, 0x11, four + [4, 0, 1, 0]), "192.0.2.7"),
        (binary(0x21, 0x21, six + six + ports), "2001:db8::9"),
        (binary(0x21, 0x21, six + six + ports + Array(repeating: 1, count: 400)), "2001:db8::9"),
        (binary(0x21, 0x00, []), ""),
        (binary(0x21, 0x00, [1, 2, 3]), ""),
        (binary(0x20, 0x00, []), ""),
        (binary(0x20, 0x11, four), ""),
        (binary(0x20, 0xff, [1]), ""),
    ]

    @Test(arguments: accepted)
    func aHeaderIsReadWholeAndAtEverySplit(_ header: [UInt8], _ source: String) {
        let address = source.isEmpty ? nil : IPAddress(text: source.utf8)
        let bytes = header + ProxyHeaderTests.after
        #expect(ProxyHeaderTests.feed(bytes) == .done(consumed: header.count, source: address))
        #expect(ProxyHeaderTests.feed(header) == .done(consumed: header.count, source: address))
        for split in 1..<header.count {
            var reader = ProxyHeader()
            #expect(reader.feed(Array(bytes[..<split]).span) == .more)
            #expect(reader.feed(Array(bytes[split...]).span) == .done(consumed: header.count - split, source: address))
        }
        var reader = ProxyHeader()
        for byte in header.dropLast() { #expect(reader.feed([byte].span) == .more) }
        #expect(reader.feed([header[header.count - 1]].span) == .done(consumed: 1, source: address))
    }

    static let refused: [[UInt8]] =
        [
            "GET / HTTP/1.1\r\n", "PROXY\r\n", "PROXY \r\n       ", "PROXY TCP4\r\n      ",
            "proxy TCP4 1.1.1.1 2.2.2.2 1 2\r\n",
            "PROXY TCP5 192.0.2.7 198.51.100.1 4128 443\r\n", "PROXY TCP4 192.0.2.7 198.51.100.1 4128 443\n",
            "PROXY TCP4 192.0.2.7 198.51.100.1 4128\r\n", "PROXY TCP4 192.0.2.7 198.51.100.1 4128 443 1\r\n",
            "PROXY TCP4  192.0.2.7 198.51.100.1 4128 443\r\n", "PROXY TCP4 192.0.2.7 198.51.100.1 4128 65536\r\n",
            "PROXY TCP4 192.0.2.7 198.51.100.1 -1 443\r\n", "PROXY TCP4 192.0.2.7 198.51.100.1 1 \r\n",
            "PROXY TCP4 192.0.2.7 198.51.100.1 000001 2\r\n", "PROXY TCP4 192.0.2 198.51.100.1 1 2\r\n",
            "PROXY TCP4 192.0.2.256 198.51.100.1 1 2\r\n", "PROXY TCP4 192.0.2.7 x 1 2\r\n",
            "PROXY TCP4 2001:db8::9 ::1 1 2\r\n", "PROXY TCP4 ::ffff:1.2.3.4 1.2.3.4 1 2\r\n",
            "PROXY TCP4 192.0.2.7 ::1 1 2\r\n", "PROXY TCP6 192.0.2.7 198.51.100.1 1 2\r\n",
            "PROXY TCP6 2001:db8::9 1.2.3.4 1 2\r\n", "PROXY UNKNOWNX 1 2 3 4\r\n",
            "PROXY UNKNOWN \(String(repeating: "x", count: 92))\r\n",
        ].map { Array($0.utf8) } + [
            binary(0x22, 0x11, four), binary(0x11, 0x11, four), binary(0x31, 0x11, four), binary(0x21, 0x12, four),
            binary(0x21, 0x31, Array(repeating: 0, count: 216)), binary(0x21, 0x11, Array(four.dropLast())),
            binary(0x21, 0x21, six + six), binary(0x21, 0x11, Array(repeating: 0, count: 513)),
            binary(0x20, 0x00, Array(repeating: 0, count: 65_535)),
            Array(signature.dropLast()) + [0x0b], [0x16, 0x03, 0x01, 0x02, 0x00],
        ]

    @Test(arguments: refused)
    func anythingElseIsMalformedHoweverItComes(_ bytes: [UInt8]) {
        #expect(ProxyHeaderTests.feed(bytes) == .malformed)
        var reader = ProxyHeader()
        var steps: [ProxyHeader.Step] = []
        for byte in bytes where steps.last != .malformed { steps.append(reader.feed([byte].span)) }
        #expect(steps.last == .malformed)
        #expect(steps.dropLast().allSatisfy { $0 == .more })
    }

    @Test func aStreamWithoutEndIsCutOff() {
        let endless = Array("PROXY UNKNOWN ".utf8) + Array(repeating: 0x78, count: 200)
        #expect(ProxyHeaderTests.feed(endless) == .malformed)
        #expect(ProxyHeaderTests.feed(Array(endless[..<106])) == .more)
        #expect(ProxyHeaderTests.feed(Array(endless[..<107])) == .malformed)
    }

    @Test(arguments: 0..<200)
    func randomBytesNeverTrapAndNeverTakeMoreThanOffered(_ seed: Int) {
        var random = Seeded(UInt64(seed))
        var bytes = ProxyHeaderTests.accepted[seed % ProxyHeaderTests.accepted.count].header
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        if case .done(let consumed, _) = ProxyHeaderTests.feed(bytes) { #expect(consumed <= bytes.count) }
    }

    @Test func aHeaderIsKnownByItsFirstBytes() {
        func begins(_ bytes: [UInt8]) -> Bool { ProxyHeader.begins(bytes.span) }
        for (header, _) in ProxyHeaderTests.accepted { #expect(begins(header)) }
        for other in ["", "PROXY", "PROXYTCP4", "POST / HTTP/1.1", "PROPFIND / HTTP/1.1", "\u{16}\u{3}\u{1}"] {
            #expect(!begins(Array(other.utf8)))
        }
    }
}
