internal import CZlib

/// Deflates one message after another, each independently (RFC 7692 section 7.2.1, `server_no_context_takeover`).
///
/// One deflater serves all connections of a thread: it holds 256 KiB at most, and its output buffer. A connection has
/// no memory of its own for it.
@safe public final class Deflater {
    /// zlib's effort, 1...9.
    ///
    /// Measured with lists of waiting people (JSON, 2 kB and 20 kB):
    /// - level 1 leaves 28 and 20 % in 23 and 106 µs,
    /// - level 3 leaves 27 and 18 % in 23 and 125 µs,
    /// - level 6 leaves 25 and 16 % in 32 and 240 µs.
    private static let level: Int32 = 3
    private static let memoryLevel: Int32 = 8
    /// The bytes at the end of a flush that a message leaves out: an empty stored block.
    private static let tailBytes = 4

    // zlib keeps the address of its stream.
    private let stream: UnsafeMutablePointer<z_stream>
    private let output: UnsafeMutableBufferPointer<UInt8>
    /// The most bytes of a payload.
    public let bytesMax: Int

    /// A deflater whose references reach back `1 << windowBits` bytes, 9...15.
    ///
    /// - Precondition: `windowBits` is in its range; there is memory.
    public init(windowBits: Int, bytesMax: Int) {
        precondition((9...15).contains(windowBits), "zlib has no such window")
        self.bytesMax = max(0, bytesMax)
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        unsafe output = .allocate(capacity: self.bytesMax + Deflater.tailBytes)
        let result = unsafe switchboard_deflate_start(
            stream, Deflater.level, Int32(windowBits), Deflater.memoryLevel)
        precondition(result == Z_OK, "zlib has no memory for a deflater")
    }

    deinit {
        unsafe deflateEnd(stream)
        unsafe stream.deallocate()
        unsafe output.deallocate()
    }

    /// The deflated payload, without the empty block at its end; `nil` when it is no smaller.
    ///
    /// `nil` also for a payload longer than ``bytesMax``.
    public func deflate(_ payload: ArraySlice<UInt8>) -> [UInt8]? {
        guard payload.count > 1, payload.count <= bytesMax else { return nil }
        // A result beyond this room is no smaller than the payload.
        let room = payload.count - 1 + Deflater.tailBytes
        let written = unsafe payload.withUnsafeBufferPointer { input in
            unsafe deflateReset(stream)
            // zlib reads its input and never writes it.
            unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            unsafe stream.pointee.avail_in = UInt32(input.count)
            unsafe stream.pointee.next_out = output.baseAddress
            unsafe stream.pointee.avail_out = UInt32(room)
            guard unsafe CZlib.deflate(stream, Z_SYNC_FLUSH) == Z_OK else { return 0 }
            return unsafe room - Int(stream.pointee.avail_out)
        }
        // A full buffer may contain an incomplete flush.
        guard written > Deflater.tailBytes, written < room else { return nil }
        return unsafe [UInt8](output[..<(written - Deflater.tailBytes)])
    }
}

@available(*, unavailable)
extension Deflater: Sendable {}
