import Core
import Testing
import WebSocketCodec

@testable import switchboard_bench

@Suite struct FrameWalkerTests {
    private struct Frame: Equatable {
        var opcode: UInt8
        var payload: [UInt8]
    }

    /// Walks over a stream given in chunks; `nil` when the walker refuses it.
    private func walk(_ chunks: [[UInt8]], deflates: Bool = false) -> [Frame]? {
        var walker = FrameWalker()
        walker.deflates = deflates
        var frames: [Frame] = []
        for chunk in chunks {
            var position = 0
            walking: while true {
                switch walker.next(chunk.span, at: &position) {
                case .frame(let opcode, let payload, let isCarried):
                    frames.append(Frame(opcode: opcode, payload: Array((isCarried ? walker.carried : chunk)[payload])))
                case .more: break walking
                case .failed: return nil
                }
            }
            guard position == chunk.count else { return nil }
        }
        return frames
    }

    private func payload(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ count) } }

    /// All kinds of frames and all forms of lengths.
    private var sample: (bytes: [UInt8], frames: [Frame]) {
        let parts: [(WebSocketOpcode, Int)] = [
            (.text, 0), (.text, 5), (.ping, 3), (.text, 125), (.binary, 126), (.pong, 0), (.text, 300), (.close, 2),
        ]
        let frames = parts.map { Frame(opcode: $0.0.rawValue, payload: payload($0.1)) }
        return (parts.flatMap { WebSocketEncoder.frame($0.0, payload: payload($0.1)) }, frames)
    }

    @Test func severalFramesInOneChunk() {
        let (bytes, frames) = sample
        #expect(walk([bytes]) == frames)
        #expect(walk([bytes, bytes]) == frames + frames)
    }

    @Test func cutAtEveryOffset() {
        let (bytes, frames) = sample
        for cut in 0...bytes.count {
            #expect(walk([Array(bytes[..<cut]), Array(bytes[cut...])]) == frames, "cut at \(cut)")
        }
    }

    @Test(arguments: [1, 2, 3, 7, 64]) func inSmallPieces(_ size: Int) {
        let (bytes, frames) = sample
        let chunks = stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
        #expect(walk(chunks) == frames)
    }

    /// Lengths of 16 and 64 bits, whole and cut.
    @Test(arguments: [65_535, 65_536, 200_000]) func longFrames(_ count: Int) {
        let bytes = WebSocketEncoder.frame(.text, payload: payload(count))
        let frames = [Frame(opcode: 1, payload: payload(count))]
        #expect(walk([bytes]) == frames)
        for cut in [1, 2, 3, 4, 9, 10, 11, count, bytes.count - 1] {
            #expect(walk([Array(bytes[..<cut]), Array(bytes[cut...])]) == frames, "cut at \(cut)")
        }
    }

    /// Deflated messages are told apart, and only where they were agreed on.
    @Test func deflatedFrames() {
        let bytes =
            WebSocketEncoder.frame(.text, payload: payload(300), isDeflated: true)
            + WebSocketEncoder.frame(.text, payload: payload(5))
        let frames = [Frame(opcode: 0x41, payload: payload(300)), Frame(opcode: 1, payload: payload(5))]
        #expect(walk([bytes], deflates: true) == frames)
        #expect(walk(bytes.map { [$0] }, deflates: true) == frames)
        #expect(walk([bytes]) == nil)
        for first: UInt8 in [0xc9, 0xc8, 0xa1, 0x91, 0xe1, 0x41] { #expect(walk([[first, 0]], deflates: true) == nil) }
    }

    @Test(
        arguments: [
            // Masked; a reserved bit; a fragment; a continuation; an unknown opcode; a long ping.
            [0x81, 0x80, 0, 0, 0, 0], [0xc1, 0x00], [0x01, 0x00], [0x80, 0x00], [0x83, 0x00], [0x89, 126, 0, 126],
            // Lengths beyond the bound, and one with the highest bit.
            [0x81, 127, 0, 0, 0, 0, 1, 0, 0, 1], [0x81, 127, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
        ] as [[UInt8]])
    func refused(_ bytes: [UInt8]) {
        #expect(walk([bytes]) == nil)
        #expect(walk(bytes.map { [$0] }) == nil)
    }
}
