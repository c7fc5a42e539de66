import Testing
import WebSocketCodec

/// The bit of deflated messages (RFC 7692 section 6), which the decoder tells and does not undo.
@Suite struct DeflatedFramesTests {
    private let hello: [UInt8] = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00]

    private func deflated(_ opcode: UInt8, _ payload: [UInt8], fin: Bool = true) -> [UInt8] {
        Wire.frame(opcode, payload, fin: fin, rsv: 4)
    }

    @Test func aDeflatedMessageIsToldAsItCame() {
        expect(deflated(1, hello), deflates: true, gives: [.deflated(kind: .text, payload: hello)])
        expect(deflated(2, []), deflates: true, gives: [.deflated(kind: .binary, payload: [])])
    }

    @Test func itsFragmentsAreJoinedAndItsTextIsNotLookedAt() {
        let bytes =
            deflated(1, [0xff], fin: false) + Wire.ping("now") + Wire.more([0xfe], fin: false) + Wire.more([0xfd])
        expect(bytes, deflates: true, gives: [.ping("now"), .deflated(kind: .text, payload: [0xff, 0xfe, 0xfd])])
    }

    @Test func messagesAreDeflatedOneByOne() {
        expect(
            deflated(1, hello) + Wire.text("plain") + deflated(2, hello), deflates: true,
            gives: [
                .deflated(kind: .text, payload: hello), .text("plain"), .deflated(kind: .binary, payload: hello),
            ])
        expect(Wire.text([0xff]), deflates: true, gives: [.failed(.invalidText)])
    }

    @Test(arguments: [0x8, 0x9, 0xa] as [UInt8])
    func aControlFrameIsNotDeflated(_ opcode: UInt8) {
        expect(deflated(opcode, []), deflates: true, gives: [.failed(.deflatedControl)])
    }

    @Test func onlyTheFirstFrameSaysSo() {
        expect(
            deflated(1, hello, fin: false) + deflated(0, []), deflates: true, gives: [.failed(.deflatedContinuation)])
        expect(
            Wire.text("a", fin: false) + deflated(0, []), deflates: true, gives: [.failed(.deflatedContinuation)])
        expect(deflated(0, []), deflates: true, gives: [.failed(.strayContinuation)])
    }

    @Test func theOtherBitsStayReserved() {
        for rsv: UInt8 in [1, 2, 3, 5, 6, 7] {
            expect(Wire.frame(1, hello, rsv: rsv), deflates: true, gives: [.failed(.reservedBits)])
        }
        expect(deflated(1, hello), gives: [.failed(.reservedBits)])
    }

    @Test func aDeflatedMessageMayBeALittleLongerThanItsLimit() {
        let limits = WebSocketLimits(messageBytesMax: 800, fragmentsMax: 8)
        let most = [UInt8](repeating: 7, count: 964)
        expect(deflated(2, most), limits: limits, deflates: true, gives: [.deflated(kind: .binary, payload: most)])
        expect(deflated(2, most + [7]), limits: limits, deflates: true, gives: [.failed(.messageTooBig)])
        expect(
            deflated(2, most, fin: false) + Wire.more([7]), limits: limits, deflates: true,
            gives: [.failed(.messageTooBig)])
        expect(
            deflated(2, most) + Wire.binary(most), limits: limits, deflates: true,
            gives: [.deflated(kind: .binary, payload: most), .failed(.messageTooBig)])
    }

    @Test func aDeflatedFrameHasTheBit() {
        #expect(WebSocketEncoder.frame(.text, payload: hello, isDeflated: true) == [0xc1, 7] + hello)
    }
}
