import TestSupport
import Testing
import WebSocketCodec

/// Masking at every alignment of payload, key and read (RFC 6455 section 5.3).
@Suite struct MaskingTests {
    @Test func `RFC 6455 section 5.7: the published frames are read`() {
        let masked: [UInt8] = [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58]
        expect(masked, gives: [.text("Hello")])
        #expect(WebSocketEncoder.maskedFrame(.text, payload: Array("Hello".utf8), mask: 0x37fa_213d) == masked)
        expect([0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f], role: .client, gives: [.text("Hello")])
        expect(
            [0x01, 0x03, 0x48, 0x65, 0x6c, 0x80, 0x02, 0x6c, 0x6f], role: .client, gives: [.text("Hello")])
    }

    @Test(arguments: 0...40)
    func `a payload cut anywhere in two is the same`(count: Int) {
        let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 31 + 5) }
        let bytes = Wire.binary(payload)
        for cut in 0...bytes.count {
            #expect(decode([Array(bytes[..<cut]), Array(bytes[cut...])]) == [.binary(payload)], "cut \(cut)")
        }
    }

    @Test func `frames of many lengths and masks survive random cuts`() {
        for seed: UInt64 in 1...40 {
            var random = Seeded(seed)
            var bytes: [UInt8] = []
            var events: [WebSocketEvent] = []
            for _ in 0..<20 {
                let count = Int.random(in: 0...300, using: &random)
                let payload = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
                bytes += WebSocketEncoder.maskedFrame(
                    .binary, payload: payload, mask: UInt32.random(in: 0...(.max), using: &random))
                events.append(.binary(payload))
            }
            #expect(decode([bytes]) == events, "seed \(seed)")
            #expect(decode(Seeded.cuts(bytes, seed: seed)) == events, "seed \(seed)")
        }
    }
}
