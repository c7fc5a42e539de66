import TestSupport
import Testing

@testable import SwitchboardClientLinux

/// What a gateway's bytes are, however they are cut.
struct FrameReaderTests {
    @Test("a gateway that takes nothing fills no memory by its pings")
    func outgoing() {
        var waiting = Outgoing()
        let pong = FrameWriter.pong([UInt8](repeating: 0, count: 125))
        var pongs = 0
        while waiting.add(pong), pongs < 1_000_000 { pongs += 1 }
        #expect(waiting.bytes.count <= Outgoing.bytesMax + pong.count)
        waiting.written(waiting.bytes.count)
        #expect(waiting.add(pong) && waiting.bytes == pong)
    }

    private static let long = String(repeating: "x", count: 70_000)

    /// Frames, with what they are.
    private static let bytes: [UInt8] =
        [0x81, 2, 0x68, 0x69] + [0x01, 1, 0x61] + [0x89, 1, 7] + [0x80, 1, 0x62]
        + [0x81, 126, 1, 0] + [UInt8](repeating: 0x79, count: 256)
        + [0x81, 127, 0, 0, 0, 0, 0, 1, 0x11, 0x70] + Array(long.utf8) + [0x8a, 0] + [0x88, 2, 0x11, 0x31]
    private static let pieces: [FrameReader.Piece] = [
        .text("hi"), .ping([7]), .text("ab"), .text(String(repeating: "y", count: 256)), .text(long),
        .close(code: 4_401),
    ]

    @Test("frames come out the same whole and in any pieces", arguments: [0, 1, 2, 3])
    func cuts(_ seed: UInt64) {
        var reader = FrameReader()
        let parts = seed == 0 ? [FrameReaderTests.bytes] : Seeded.cuts(FrameReaderTests.bytes, seed: seed)
        #expect(parts.flatMap { reader.take($0) } == FrameReaderTests.pieces)
    }

    @Test(
        "what breaks the protocol ends the connection",
        arguments: [
            ([0xc1, 0], 1_002), ([0x81, 0x80], 1_002), ([0x83, 0], 1_002), ([0x80, 0], 1_002),
            ([0x81, 127, 0xff, 0, 0, 0, 0, 0, 0, 0], 1_009), ([0x81, 1, 0xff], 1_007), ([0x09, 0], 1_002),
            ([0x89, 126, 0, 126] + [UInt8](repeating: 0, count: 126), 1_002),
        ] as [([UInt8], Int)])
    func faults(_ bytes: [UInt8], _ code: Int) {
        var reader = FrameReader()
        #expect(reader.take(bytes) == [.fault(code: code)])
    }
}
