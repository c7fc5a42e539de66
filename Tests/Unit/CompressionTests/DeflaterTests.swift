import Compression
import TestSupport
import Testing
import WebSocketCodec

/// What is deflated comes back, and only what becomes smaller is deflated.
@Suite struct DeflaterTests {
    private let inflater = Inflater()

    @Test(arguments: DeflateAgreement.Window.allCases)
    func whatIsDeflatedComesBack(_ window: DeflateAgreement.Window) throws {
        let deflater = Deflater(windowBits: window.rawValue, bytesMax: 300_000)
        for count in [40, 512, 4_000, 65_536, 300_000] {
            let payload = Array(
                repeatElement("{\"event\":\"queue_updated\"},", count: count).joined().utf8.prefix(count))
            let bytes = try #require(deflater.deflate(payload[...]))
            #expect(bytes.count < payload.count)
            #expect(
                inflater.inflate(.text, bytes, bytesMax: count) == .message(kind: .text, payload: payload))
        }
    }

    @Test func aMessageIsDeflatedAloneAndAlwaysAlike() {
        let deflater = Deflater(windowBits: 15, bytesMax: 1_000)
        let hello = Array("Hello, hello, hello, hello".utf8)
        let first = deflater.deflate(hello[...])
        #expect(first != nil)
        _ = deflater.deflate([UInt8](repeating: 1, count: 900)[...])
        #expect(deflater.deflate(hello[...]) == first)
    }

    @Test func whatDoesNotBecomeSmallerIsLeft() {
        let deflater = Deflater(windowBits: 15, bytesMax: 100_000)
        var random = Seeded(3)
        for count in [0, 1, 2, 5, 100, 1_000, 70_000, 100_000] {
            let noise = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(deflater.deflate(noise[...]) == nil)
        }
        let text = [UInt8](repeating: 0x61, count: 2_000)
        #expect(deflater.deflate(text[...]) != nil, "the next one")
    }

    @Test func whatIsTooLongIsLeft() {
        let deflater = Deflater(windowBits: 15, bytesMax: 1_000)
        #expect(deflater.deflate([UInt8](repeating: 0x61, count: 1_000)[...]) != nil)
        #expect(deflater.deflate([UInt8](repeating: 0x61, count: 1_001)[...]) == nil)
    }

    /// A narrow window is kept: no reference reaches further back than the client can look.
    @Test func theNarrowWindowIsKept() throws {
        var random = Seeded(5)
        let block = (0..<600).map { _ in UInt8.random(in: 0...255, using: &random) }
        let payload = block + block
        let wide = try #require(Deflater(windowBits: 15, bytesMax: 2_000).deflate(payload[...]))
        #expect(wide.count < 700)
        #expect(Deflater(windowBits: 9, bytesMax: 2_000).deflate(payload[...]) == nil)
    }
}
