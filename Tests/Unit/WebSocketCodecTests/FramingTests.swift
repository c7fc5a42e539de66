import Testing
import WebSocketCodec

/// Autobahn groups 1 to 4: lengths, pings and pongs, reserved bits, reserved opcodes.
@Suite struct FramingTests {
    // MARK: 1 Framing

    @Test(arguments: [0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 125, 126, 127, 128, 65_535, 65_536])
    func `1.1, 1.2: a message of each length comes out as it went in`(count: Int) {
        let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0 % 95 + 32) }
        expect(Wire.text(payload), gives: [.text(payload)])
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) }
        expect(Wire.binary(bytes), gives: [.binary(bytes)])
    }

    @Test func `1.x: an unmasked client frame fails, and a masked server frame`() {
        expect(Wire.frame(0x1, [0x41], mask: nil), gives: [.failed(.unmaskedFrame)])
        expect(Wire.frame(0x9, [], mask: nil), gives: [.failed(.unmaskedFrame)])
        expect(Wire.frame(0x1, [0x41]), role: .client, gives: [.failed(.maskedFrame)])
        expect(Wire.frame(0x1, [0x41], mask: nil), role: .client, gives: [.text("A")])
    }

    @Test func `1.x: any mask is undone, also the zero mask`() {
        for mask: [UInt8] in [[0, 0, 0, 0], [0xff, 0xff, 0xff, 0xff], [1, 2, 3, 4], [0x80, 0, 0, 0]] {
            expect(Wire.frame(0x1, Array("Hello, world".utf8), mask: mask), gives: [.text("Hello, world")])
        }
    }

    @Test(arguments: [0, 1, 125])
    func `1.x: a length in 16 bits that fits in 7 fails`(count: Int) {
        let payload = [UInt8](repeating: 0x61, count: count)
        expect(Wire.frame(0x1, payload, form: .bits16), gives: [.failed(.lengthNotMinimal)])
    }

    @Test(arguments: [0, 125, 126, 65_535])
    func `1.x: a length in 64 bits that fits in fewer fails`(count: Int) {
        expect(
            Wire.frame(0x2, [1], form: .bits64, announced: UInt64(count)), gives: [.failed(.lengthNotMinimal)])
    }

    @Test(arguments: [UInt64(1) << 63, .max])
    func `1.x: a length with the highest bit set fails as a protocol error`(length: UInt64) {
        expect(Wire.frame(0x2, [1], form: .bits64, announced: length), gives: [.failed(.lengthTopBit)])
    }

    @Test func `1.x: the largest lawful length is merely too big`() {
        expect(Wire.frame(0x2, [], announced: UInt64(Int64.max)), gives: [.failed(.messageTooBig)])
    }

    // MARK: 2 Pings and pongs

    @Test func `2.1 to 2.4: a ping carries up to 125 bytes of anything`() {
        expect(Wire.ping(), gives: [.ping("")])
        expect(Wire.ping("Hello, world!"), gives: [.ping("Hello, world!")])
        let bytes: [UInt8] = [0x00, 0xff, 0xfe, 0xfd, 0xfc, 0xfb, 0x00, 0xff]
        expect(Wire.frame(0x9, bytes), gives: [.ping(bytes)])
        let longest = [UInt8](repeating: 0xfe, count: 125)
        expect(Wire.frame(0x9, longest), gives: [.ping(longest)])
    }

    @Test(arguments: [UInt8(0x8), 0x9, 0xa])
    func `2.5: a control frame of 126 bytes fails from its second byte`(opcode: UInt8) {
        expect(Wire.frame(opcode, [UInt8](repeating: 0x2a, count: 126)), gives: [.failed(.controlTooLong)])
        expect(Array(Wire.frame(opcode, [], announced: 126).prefix(2)), gives: [.failed(.controlTooLong)])
        expect(Array(Wire.frame(opcode, [], announced: 65_536).prefix(2)), gives: [.failed(.controlTooLong)])
    }

    @Test func `2.7 to 2.9: unasked pongs are reported and harm nothing`() {
        expect(Wire.pong(), gives: [.pong("")])
        expect(
            Wire.pong("unsolicited") + Wire.ping("ping payload"), gives: [.pong("unsolicited"), .ping("ping payload")])
    }

    @Test func `2.10, 2.11: ten pings come out in order`() {
        let names = (0..<10).map { "payload-\($0)" }
        expect(names.flatMap { Wire.ping($0) }, gives: names.map { .ping($0) })
    }

    // MARK: 3 Reserved bits

    @Test(arguments: UInt8(1)...7, [UInt8(0x0), 0x1, 0x2, 0x8, 0x9, 0xa])
    func `3.1 to 3.7: a reserved bit fails at the first byte`(rsv: UInt8, opcode: UInt8) {
        expect(Wire.frame(opcode, [], rsv: rsv), gives: [.failed(.reservedBits)])
        expect([0x80 | rsv << 4 | opcode], gives: [.failed(.reservedBits)])
    }

    @Test func `3.2 to 3.4: valid frames before the bad one are told first, later ones never`() {
        expect(
            Wire.text("Hello") + Wire.frame(0x1, Array("bad".utf8), rsv: 2) + Wire.ping(),
            gives: [.text("Hello"), .failed(.reservedBits)])
    }

    @Test func `3.x: RSV1 on a continuation or a control frame fails inside a message`() {
        expect(
            Wire.text("a", fin: false) + Wire.frame(0x0, [], rsv: 4), gives: [.failed(.reservedBits)])
        expect(
            Wire.text("a", fin: false) + Wire.frame(0x9, [], rsv: 4), gives: [.failed(.reservedBits)])
    }

    // MARK: 4 Reserved opcodes

    @Test(arguments: [UInt8(0x3), 0x4, 0x5, 0x6, 0x7, 0xb, 0xc, 0xd, 0xe, 0xf])
    func `4.1, 4.2: a reserved opcode fails at the first byte`(opcode: UInt8) {
        expect([0x80 | opcode], gives: [.failed(.reservedOpcode)])
        expect(Wire.frame(opcode, [], fin: false), gives: [.failed(.reservedOpcode)])
        expect(
            Wire.text("Hello") + Wire.frame(opcode, Array("x".utf8)) + Wire.ping("late"),
            gives: [.text("Hello"), .failed(.reservedOpcode)])
    }
}
