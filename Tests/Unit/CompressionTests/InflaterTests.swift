import Compression
import TestSupport
import Testing
import WebSocketCodec

/// Deflated messages of a peer, honest and not (RFC 7692 section 7.2.2).
@Suite struct InflaterTests {
    private let inflater = Inflater()

    private func inflate(_ bytes: [UInt8], _ kind: WebSocketEvent.Kind = .text, max: Int = 65_536) -> WebSocketEvent {
        inflater.inflate(kind, bytes, bytesMax: max)
    }

    private func text(_ text: String) -> WebSocketEvent { .message(kind: .text, payload: Array(text.utf8)) }

    /// The examples of RFC 7692 section 7.2.3.
    @Test(
        arguments: [
            [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00],
            [0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00],
            [0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00],
            [0xf2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xff, 0xff, 0xca, 0xc9, 0xc9, 0x07, 0x00],
            // A final block without anything behind it.
            [0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00],
        ] as [[UInt8]])
    func everyWayToSayHelloIsUnderstood(_ bytes: [UInt8]) {
        #expect(inflate(bytes) == text("Hello"))
    }

    @Test func aMessageMayHaveSeveralFinalBlocks() {
        let block: [UInt8] = [0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00]
        #expect(inflate(block + block + [0x00]) == text("HelloHello"))
        #expect(inflate(block + [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00]) == text("HelloHello"))
    }

    @Test func anEmptyMessageIsEmpty() {
        for bytes in [[], [0x00], [0x02, 0x00]] as [[UInt8]] {
            #expect(inflate(bytes) == text(""))
            #expect(inflate(bytes, .binary, max: 0) == .message(kind: .binary, payload: []))
        }
    }

    /// A message that refers to the one before must not be understood: nothing is kept between two.
    @Test func aMessageStandsAlone() {
        #expect(inflate([0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00]) == text("Hello"))
        #expect(inflate([0xf2, 0x00, 0x11, 0x00, 0x00]) == .failed(.corruptDeflate))
        #expect(inflate([0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00]) == text("Hello"))
    }

    @Test func brokenDataAreRefused() {
        #expect(inflate([0x07]) == .failed(.corruptDeflate), "a kind of block that does not exist")
        #expect(inflate([0x00, 0x05, 0x00, 0xfa, 0xfe, 0x48]) == .failed(.corruptDeflate), "a wrong length")
        #expect(
            inflate([0x00, 0x05, 0x00, 0xfa, 0xff, 0x48], .binary) == .failed(.corruptDeflate),
            "a block whose last four bytes would be the tail")
        #expect(inflate([0x00, 0x06, 0x00, 0xf9, 0xff, 0x48], .binary) == .failed(.corruptDeflate), "a block cut off")
        #expect(inflate([0x04, 0xff, 0xff, 0xff]) == .failed(.corruptDeflate), "codes that cannot be")
        let endless = Array(repeatElement([0x03, 0x00] as [UInt8], count: 300).joined())
        #expect(inflate(endless) == .failed(.corruptDeflate), "hundreds of final blocks")
        #expect(inflate([0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00]) == text("Hello"), "the next message")
    }

    @Test func textIsJudgedAfterInflating() {
        let deflater = Deflater(windowBits: 15, bytesMax: 1_000)
        var bytes = [UInt8](repeating: UInt8(ascii: "a"), count: 500)
        bytes[499] = 0xff
        let broken = deflater.deflate(bytes[...]) ?? []
        #expect(inflate(broken) == .failed(.invalidText))
        #expect(inflate(broken, .binary) == .message(kind: .binary, payload: bytes))
        bytes[499] = 0xc3
        #expect(inflate(deflater.deflate(bytes[...]) ?? []) == .failed(.invalidText), "an unfinished code point")
    }

    /// The broken text comes first: nothing behind it is inflated, so the size is not what is told.
    @Test func aBrokenTextIsRefusedBeforeTheRestIsInflated() {
        let deflater = Deflater(windowBits: 15, bytesMax: 2_000_000)
        let bytes = [0xff] + [UInt8](repeating: 0x61, count: 1_000_000)
        #expect(inflate(deflater.deflate(bytes[...]) ?? [], max: 100_000) == .failed(.invalidText))
    }

    @Test func aBombIsRefusedAtItsLimit() {
        let deflater = Deflater(windowBits: 15, bytesMax: 64 << 20)
        let bomb = deflater.deflate([UInt8](repeating: 0x20, count: 64 << 20)[...]) ?? []
        #expect((50_000...400_000).contains(bomb.count))
        for max in [0, 1, 16_383, 16_384, 16_385, 65_536] {
            #expect(inflate(bomb, max: max) == .failed(.messageTooBig), "\(max)")
        }
    }

    @Test(arguments: [0, 1, 2, 16_383, 16_384, 16_385, 65_535, 65_536])
    func theLimitIsExact(_ count: Int) {
        let deflater = Deflater(windowBits: 9, bytesMax: 100_000)
        let payload = [UInt8](repeating: 0x7b, count: count)
        guard let bytes = deflater.deflate(payload[...]) else { return #expect(count <= 2) }
        #expect(inflate(bytes, max: count) == .message(kind: .text, payload: payload))
        if count > 0 { #expect(inflate(bytes, max: count - 1) == .failed(.messageTooBig)) }
    }

    /// A message cut off anywhere is refused or is a shorter message, and never stops the inflater.
    @Test func aMessageCutAnywhereHarmsNobody() {
        let deflater = Deflater(windowBits: 15, bytesMax: 10_000)
        let payload = Array((0..<300).map { "{\"place\":\($0 * 7919 % 1000)}" }.joined().utf8)
        let whole = deflater.deflate(payload[...]) ?? []
        for count in 0..<whole.count {
            switch inflate(Array(whole.prefix(count)), .binary) {
            case .message(_, let bytes): #expect(payload.starts(with: bytes))
            case let event: #expect(event == .failed(.corruptDeflate), "cut at \(count)")
            }
            #expect(inflate(whole) == .message(kind: .text, payload: payload))
        }
    }

    @Test func noiseIsRefusedOrBounded() {
        var random = Seeded(7)
        for _ in 0..<2_000 {
            let noise = (0..<Int.random(in: 0...400, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            switch inflate(noise, .binary, max: 1_000) {
            case .message(_, let bytes): #expect(bytes.count <= 1_000)
            case let event: #expect(event == .failed(.corruptDeflate) || event == .failed(.messageTooBig))
            }
        }
    }
}
