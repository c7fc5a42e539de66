internal import CZlib
import Core
public import WebSocketCodec

/// Inflates one message after another, each independently (RFC 7692 section 7.2.2, `client_no_context_takeover`).
///
/// One inflater serves all connections of a thread. It holds some 40 KiB and one buffer. A message takes no more than
/// its limit while it is inflated, whatever its full size would be.
@safe public final class Inflater {
    /// Bytes that are inflated in one step.
    private static let stepBytes = 16_384
    /// The most final blocks of one message; each makes zlib restart.
    private static let finalBlocksMax = 128
    /// The empty stored block that senders leave out.
    private static let tail: [UInt8] = [0x00, 0x00, 0xff, 0xff]

    // zlib keeps the address of its stream.
    private let stream: UnsafeMutablePointer<z_stream>
    private let output: UnsafeMutableBufferPointer<UInt8>

    /// A message and its inflated part.
    private struct Message {
        let isText: Bool
        let bytesMax: Int
        var bytes: [UInt8] = []
        var text = UTF8Text()
        var finalBlocks = 0
        /// The bytes given so far ended with a final block.
        var isEnded = false

        /// Takes the next bytes; checked at once, so that nothing is inflated in vain.
        mutating func take(_ part: Span<UInt8>) -> WebSocketFailure? {
            guard part.count <= bytesMax - bytes.count else { return .messageTooBig }
            if isText, !text.accept(part) { return .invalidText }
            let needed = bytes.count + part.count
            if needed > bytes.capacity { bytes.reserveCapacity(min(bytesMax, max(needed, bytes.capacity * 2))) }
            for index in 0..<part.count { bytes.append(part[index]) }
            return nil
        }
    }

    /// An inflater of any window.
    ///
    /// - Precondition: There is memory.
    public init() {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        unsafe output = .allocate(capacity: Inflater.stepBytes)
        precondition(unsafe switchboard_inflate_start(stream) == Z_OK, "zlib has no memory for an inflater")
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
        unsafe output.deallocate()
    }

    /// The message, of at most `bytesMax` bytes, or the rule that it breaks.
    public func inflate(_ kind: WebSocketEvent.Kind, _ deflated: [UInt8], bytesMax: Int) -> WebSocketEvent {
        // Section 7.2.3.6 demands one byte for an empty message; without it the meaning is clear as well.
        guard !deflated.isEmpty else { return .message(kind: kind, payload: []) }
        var message = Message(isText: kind == .text, bytesMax: bytesMax)
        unsafe inflateReset(stream)
        if let failure = feed(deflated, &message) { return .failed(failure) }
        // A message that ended with a final block needs no tail, though most senders leave room for one.
        if !message.isEnded {
            let count = message.bytes.count
            if let failure = feed(Inflater.tail, &message) { return .failed(failure) }
            // The tail is an empty block, and not the end of a truncated one.
            guard message.bytes.count == count, unsafe switchboard_is_between_blocks(stream) != 0 else {
                return .failed(.corruptDeflate)
            }
        }
        guard message.text.isComplete else { return .failed(.invalidText) }
        return .message(kind: kind, payload: message.bytes)
    }

    /// Inflates all of the input, a step at a time.
    private func feed(_ input: [UInt8], _ message: inout Message) -> WebSocketFailure? {
        unsafe input.withUnsafeBufferPointer { input in
            // zlib reads its input and never writes it.
            unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            unsafe stream.pointee.avail_in = UInt32(input.count)
            var isMore = input.count > 0
            while isMore {
                unsafe stream.pointee.next_out = output.baseAddress
                unsafe stream.pointee.avail_out = UInt32(Inflater.stepBytes)
                let result = unsafe CZlib.inflate(stream, Z_SYNC_FLUSH)
                let written = unsafe Inflater.stepBytes - Int(stream.pointee.avail_out)
                let part = unsafe UnsafeBufferPointer(rebasing: output[..<written])
                if let failure = unsafe message.take(part.span) { return failure }
                let isLeft = unsafe stream.pointee.avail_in > 0
                switch result {
                case Z_OK, Z_BUF_ERROR:
                    message.isEnded = false
                    isMore = isLeft || written == Inflater.stepBytes
                case Z_STREAM_END:
                    message.isEnded = true
                    message.finalBlocks += 1
                    guard message.finalBlocks <= Inflater.finalBlocksMax else { return .corruptDeflate }
                    // The next block begins at the next byte and may refer to earlier ones.
                    unsafe inflateResetKeep(stream)
                    isMore = isLeft
                default:
                    return .corruptDeflate
                }
            }
            return nil
        }
    }
}

@available(*, unavailable)
extension Inflater: Sendable {}
