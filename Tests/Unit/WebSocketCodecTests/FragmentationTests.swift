import Testing
import WebSocketCodec

/// Autobahn group 5: fragmented messages and what may stand between their frames.
@Suite struct FragmentationTests {
    @Test(arguments: [UInt8(0x8), 0x9, 0xa])
    func `5.1, 5.2: a fragmented control frame fails at the first byte`(opcode: UInt8) {
        expect([opcode], gives: [.failed(.fragmentedControl)])
        expect(Wire.frame(opcode, [1], fin: false) + Wire.more("x"), gives: [.failed(.fragmentedControl)])
    }

    @Test func `5.3 to 5.5: a text in two frames is one message`() {
        expect(Wire.text("fragment1", fin: false) + Wire.more("fragment2"), gives: [.text("fragment1fragment2")])
        expect(Wire.binary([1, 2], fin: false) + Wire.more([3]), gives: [.binary([1, 2, 3])])
    }

    @Test func `5.6 to 5.8: a ping inside a message is told at once`() {
        expect(
            Wire.text("fragment1", fin: false) + Wire.ping("in between") + Wire.more("fragment2"),
            gives: [.ping("in between"), .text("fragment1fragment2")])
    }

    @Test func `5.9 to 5.14: a continuation without a start fails`() {
        expect(Wire.more("stray") + Wire.text("Hello"), gives: [.failed(.strayContinuation)])
        expect(Wire.more("stray", fin: false), gives: [.failed(.strayContinuation)])
        expect([0x80], gives: [.failed(.strayContinuation)])
    }

    @Test func `5.15: the message before a stray continuation is told first`() {
        expect(
            Wire.text("fragment1", fin: false) + Wire.more("fragment2") + Wire.more("fragment3", fin: false)
                + Wire.text("fragment4"),
            gives: [.text("fragment1fragment2"), .failed(.strayContinuation)])
    }

    @Test func `5.16, 5.17: stray continuations fail however often they are repeated`() {
        let once = Wire.more("a", fin: false) + Wire.text("b", fin: false) + Wire.more("c")
        expect(once + once, gives: [.failed(.strayContinuation)])
        expect(Wire.more("a") + Wire.text("b", fin: false), gives: [.failed(.strayContinuation)])
    }

    @Test func `5.18: a new message inside an unfinished one fails`() {
        expect(Wire.text("a", fin: false) + Wire.text("b"), gives: [.failed(.interruptedMessage)])
        expect(Wire.text("a", fin: false) + Wire.binary([1]), gives: [.failed(.interruptedMessage)])
        expect(Wire.binary([1], fin: false) + Wire.text("b", fin: false), gives: [.failed(.interruptedMessage)])
    }

    @Test func `5.19, 5.20: pings between five fragments come out in their places`() {
        expect(
            Wire.text("f1", fin: false) + Wire.more("f2", fin: false) + Wire.ping("p1") + Wire.more("f3", fin: false)
                + Wire.more("f4", fin: false) + Wire.ping("p2") + Wire.more("f5"),
            gives: [.ping("p1"), .ping("p2"), .text("f1f2f3f4f5")])
    }

    @Test func `5.x: two fragmented messages in a row do not mix`() {
        expect(
            Wire.text("a", fin: false) + Wire.more("b") + Wire.binary([0xff], fin: false) + Wire.more([0xfe]),
            gives: [.text("ab"), .binary([0xff, 0xfe])])
    }
}
