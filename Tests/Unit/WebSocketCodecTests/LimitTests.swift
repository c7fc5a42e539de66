import Core
import TestSupport
import Testing
import WebSocketCodec

/// Autobahn groups 9 and 10, and attacks on memory: sizes, fragments, what is held when.
@Suite struct LimitTests {
    static let small = WebSocketLimits(messageBytesMax: 1_000, fragmentsMax: 4)

    // MARK: 9 and 10

    @Test(arguments: [64 << 10, 256 << 10, 1 << 20])
    func `9.1, 9.2: large messages come out, also in reads of 64 KiB`(count: Int) {
        let payload = [UInt8](repeating: 0x2a, count: count)
        let bytes = WebSocketEncoder.maskedFrame(.text, payload: payload, mask: 0x1234_5678)
        #expect(decode([bytes]) == [.text(payload)])
        let binary = WebSocketEncoder.maskedFrame(.binary, payload: payload, mask: 0xfedc_ba98)
        let reads = stride(from: 0, to: binary.count, by: 65_536).map {
            Array(binary[$0..<min($0 + 65_536, binary.count)])
        }
        #expect(decode(reads) == [.binary(payload)])
    }

    // Autobahn itself sends the sizes that these stand for (4 and 16 MiB) to a gateway.

    @Test func `9.2.6: 2 MiB come out`() {
        let payload = [UInt8](repeating: 0x2a, count: 2 << 20)
        let header = Wire.frame(0x2, [], announced: UInt64(payload.count), mask: [0, 0, 0, 0])
        #expect(decode([header, payload]) == [.binary(payload)])
    }

    @Test(arguments: [64, 1_024, 65_536, 1 << 20])
    func `9.3, 9.4: 1 MiB in fragments comes out`(size: Int) {
        let count = 1 << 20
        let piece = [UInt8](repeating: 0x2a, count: size)
        var bytes = Wire.text(piece, fin: size == count)
        let middle = Wire.more(piece, fin: false)
        for _ in 0..<max(0, count / size - 2) { bytes += middle }
        if size < count { bytes += Wire.more(piece) }
        #expect(decode([bytes]) == [.text([UInt8](repeating: 0x2a, count: count))])
    }

    @Test(arguments: [64, 512, 2_048])
    func `9.5, 9.6: 1 MiB in small reads comes out`(size: Int) {
        let payload = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 % 0x7f) }
        let bytes = WebSocketEncoder.maskedFrame(.text, payload: payload, mask: 0xa5a5_0f0f)
        let reads = stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
        #expect(decode(reads) == [.text(payload)])
    }

    @Test func `10.1.1: 65536 bytes in fragments of 1300 come out`() {
        let payload = [UInt8](repeating: 0x2a, count: 65_536)
        var bytes = Wire.text(Array(payload.prefix(1_300)), fin: false)
        for start in stride(from: 1_300, to: payload.count, by: 1_300) {
            let end = min(start + 1_300, payload.count)
            bytes += Wire.more(Array(payload[start..<end]), fin: end == payload.count)
        }
        #expect(decode([bytes]) == [.text(payload)])
        #expect(decode(Seeded.cuts(bytes, seed: 10)) == [.text(payload)])
    }

    // MARK: Limits, at and beyond

    @Test func `a message of the limit passes, one more byte is 1009 from the header alone`() {
        let payload = [UInt8](repeating: 0x61, count: 1_000)
        expect(Wire.text(payload), limits: Self.small, gives: [.text(payload)])
        let over = Wire.frame(0x1, [], announced: 1_001, mask: nil)
        expect([over[0], over[1] | 0x80] + over[2...], limits: Self.small, gives: [.failed(.messageTooBig)])
        #expect(WebSocketFailure.messageTooBig.closeReason.webSocketCode == 1009)
    }

    @Test func `the limit counts over all fragments`() {
        let half = [UInt8](repeating: 0x61, count: 500)
        expect(
            Wire.text(half, fin: false) + Wire.more(half), limits: Self.small, gives: [.text(half + half)])
        expect(
            Wire.text(half, fin: false) + Wire.more(half, fin: false) + Wire.more([0x61]), limits: Self.small,
            gives: [.failed(.messageTooBig)])
        expect(
            Wire.text(half, fin: false) + Wire.frame(0x0, [], announced: UInt64(Int64.max)), limits: Self.small,
            gives: [.failed(.messageTooBig)])
    }

    @Test func `the limit starts anew with each message, and control frames do not count`() {
        let payload = [UInt8](repeating: 0x61, count: 900)
        expect(
            Wire.text(payload, fin: false) + Wire.ping(String(repeating: "p", count: 125)) + Wire.more([0x62])
                + Wire.text(payload),
            limits: Self.small,
            gives: [.ping(String(repeating: "p", count: 125)), .text(payload + [0x62]), .text(payload)])
    }

    @Test func `as many fragments as allowed pass, one more is 1008, also when empty`() {
        let empty = Wire.more("", fin: false)
        expect(
            Wire.text("", fin: false) + empty + empty + Wire.more("end"), limits: Self.small, gives: [.text("end")])
        expect(
            Wire.text("", fin: false) + empty + empty + empty + Wire.more("end"), limits: Self.small,
            gives: [.failed(.tooManyFragments)])
        expect(
            Wire.text("", fin: false) + empty + empty + empty + Wire.ping("fine"), limits: Self.small,
            gives: [.ping("fine")])
        #expect(WebSocketFailure.tooManyFragments.closeReason.webSocketCode == 1008)
    }

    @Test func `limits of nothing refuse without trapping`() {
        for limits in [
            WebSocketLimits(messageBytesMax: 0, fragmentsMax: 1),
            WebSocketLimits(messageBytesMax: -1, fragmentsMax: 1),
        ] {
            expect(Wire.text(""), limits: limits, gives: [.text("")])
            expect(Wire.text("a"), limits: limits, gives: [.failed(.messageTooBig)])
        }
        let none = WebSocketLimits(messageBytesMax: 10, fragmentsMax: -1)
        expect(Wire.text(""), limits: none, gives: [.failed(.tooManyFragments)])
        expect(Wire.ping(), limits: none, gives: [.ping("")])
    }

    // MARK: Memory

    @Test func `an idle decoder is one cache line and holds no buffer`() {
        #expect(MemoryLayout<WebSocketDecoder>.stride <= 64)
        var decoder = WebSocketDecoder(role: .server, limits: wideLimits)
        #expect(decoder.bufferedBytes == 0)
        let bytes = Wire.text([UInt8](repeating: 0x61, count: 9_000)) + Wire.ping("12345") + Wire.close(1000)
        var position = 0
        while decoder.next(bytes.span, at: &position) != nil { #expect(decoder.bufferedBytes == 0) }
    }

    @Test func `an announced length costs no memory until its bytes come`() {
        var decoder = WebSocketDecoder(role: .server, limits: wideLimits)
        let header = Wire.frame(0x2, [1, 2, 3], announced: 16 << 20)
        var position = 0
        #expect(decoder.next(header.span, at: &position) == nil)
        #expect(decoder.bufferedBytes < 256)
    }

    @Test func `a message in one read takes exactly its size`() {
        var decoder = WebSocketDecoder(role: .server, limits: wideLimits)
        let bytes = Wire.binary([UInt8](repeating: 1, count: 50_000))
        var position = 0
        guard case .message(_, let payload) = decoder.next(bytes.span, at: &position) else {
            Issue.record("no message")
            return
        }
        #expect(payload.capacity < 50_100)
    }
}
