import Testing
import WebSocketCodec

@Suite struct EncoderTests {
    @Test(arguments: [0, 1, 125, 126, 65_535, 65_536, 200_000])
    func `a server frame is minimal, exact in size, and read back by a client`(count: Int) {
        let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0 % 0x7f) }
        let frame = WebSocketEncoder.frame(.text, payload: payload)
        #expect(frame == Wire.frame(0x1, payload, mask: nil))
        #expect(frame.count == WebSocketEncoder.headerBytes(count: count) + count)
        #expect(decode([frame], role: .client) == [.text(payload)])
        var inPlace: [UInt8] = [9]
        WebSocketEncoder.appendHeader(to: &inPlace, opcode: .text, count: count)
        #expect(inPlace + payload == [9] + frame)
    }

    @Test(arguments: [0, 1, 125, 126, 65_535, 65_536])
    func `a client frame is read back by a server`(count: Int) {
        let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let frame = WebSocketEncoder.maskedFrame(.binary, payload: payload, mask: 0x0102_0304)
        #expect(frame == Wire.frame(0x2, payload, mask: [1, 2, 3, 4]))
        #expect(decode([frame]) == [.binary(payload)])
    }

    @Test(arguments: WebSocketOpcode.allCases)
    func `every opcode is written with the final bit`(opcode: WebSocketOpcode) {
        #expect(WebSocketEncoder.frame(opcode, payload: []) == [0x80 | opcode.rawValue, 0])
        #expect(opcode.isControl == (opcode.rawValue >= 8))
    }

    @Test func `a close frame holds code and reason`() {
        #expect(WebSocketEncoder.close(code: 1000, reason: "") == [0x88, 2, 0x03, 0xe8])
        #expect(WebSocketEncoder.close(code: 4401, reason: "no") == [0x88, 4, 0x11, 0x31, 0x6e, 0x6f])
        #expect(WebSocketEncoder.close(code: nil, reason: "unsent") == [0x88, 0])
    }

    @Test(arguments: CloseTests.refused)
    func `a code that must not be sent is left out`(code: UInt16) {
        #expect(WebSocketEncoder.close(code: code, reason: "x") == [0x88, 0])
    }

    @Test(arguments: ["a", "\u{e4}", "\u{20ac}", "\u{1f680}"], 118...126)
    func `a long reason is cut between code points`(scalar: String, asciiCount: Int) throws {
        let reason = String(repeating: "x", count: asciiCount) + String(repeating: scalar, count: 3)
        let frame = WebSocketEncoder.close(code: 1011, reason: reason)
        #expect(frame.count <= 127)
        guard case .close(1011, let told) = try #require(decode([frame], role: .client).first) else {
            Issue.record("not a close")
            return
        }
        #expect(reason.utf8.starts(with: told))
        #expect(told.count == reason.utf8.count || told.count + scalar.utf8.count > 123, "no shorter than needed")
    }
}
