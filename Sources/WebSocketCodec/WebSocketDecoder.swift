import Core

/// Turns the bytes of one connection into events (RFC 6455 sections 5 to 8), strictly and in bounded memory.
///
/// Every rule is checked at the first byte that can break it. Reserved bits and opcodes are checked at the first header
/// byte, and the message size from the header, before anything is buffered. UTF-8 is checked at the first impossible
/// byte of an unfinished frame. The result does not depend on how the input is cut.
///
/// An idle decoder is one cache line inline and owns no heap memory; a message's buffer is handed over with the
/// message. While a message arrives, its buffer grows with the bytes received, not with the length announced.
///
/// A value of one thread; not for copying while a message is unfinished.
public struct WebSocketDecoder: Sendable {
    /// The end of the connection that decodes.
    public enum Role: Sendable {
        /// The peer is a client: its frames must be masked.
        case server
        /// The peer is a server: its frames must not be masked.
        case client
    }

    /// The meaning of the next byte.
    private enum Stage: Sendable {
        case first
        case second
        case length16
        case length64
        case mask
        case payload
        case ended
    }

    private let messageBytesMax: Int
    /// Whether messages may be deflated.
    private let deflates: Bool
    /// Whether the unfinished message is deflated.
    private var isDeflated = false
    /// The payload of the unfinished message, all its fragments so far.
    private var message: [UInt8] = []
    /// The payload of the unfinished control frame, which may be between two fragments.
    private var control: [UInt8] = []
    /// While a length is read, its bytes so far; in the payload, the bytes still missing.
    private var left: UInt64 = 0
    private let fragmentsMax: UInt32
    /// Frames of the unfinished message.
    private var fragments: UInt32 = 0
    /// The key for the next payload byte in the lowest byte, and so on; rotated as the payload is consumed.
    private var key: UInt32 = 0
    private var text = UTF8Text()
    /// Bytes still missing of the length or the mask.
    private var due: UInt8 = 0
    private var stage = Stage.first
    private var opcode = WebSocketOpcode.continuation
    private var isFinal = false
    /// The kind of the unfinished message; `nil` between messages.
    private var kind: WebSocketEvent.Kind?
    private let role: Role

    /// A decoder at the start of a connection, just after the handshake.
    ///
    /// `deflates`: `permessage-deflate` was agreed on. Deflated messages are reported unchanged; the code that inflates
    /// them checks size and text.
    public init(role: Role, limits: WebSocketLimits, deflates: Bool = false) {
        self.role = role
        self.deflates = deflates
        messageBytesMax = max(0, limits.messageBytesMax)
        fragmentsMax = UInt32(clamping: limits.fragmentsMax)
    }

    /// Whether the last event was a close or a failure: all later input is ignored (section 5.5.1).
    public var hasEnded: Bool { stage == .ended }

    /// Bytes of heap memory held for an unfinished message or control frame; 0 between frames of whole messages.
    public var bufferedBytes: Int { message.capacity + control.capacity }

    /// Decodes up to the next event.
    ///
    /// Call until it returns `nil`: then `position` is the input's end. Act on each event before the next call, so that
    /// answers to valid frames are sent before a failure is reported.
    ///
    /// - Parameters:
    ///   - input: Bytes as received, e.g. one read.
    ///   - position: The place to continue at in `input`, 0 for a new one; moved after the bytes consumed.
    /// - Returns: The next event, `nil` when the input is used up or the decoder has ended.
    public mutating func next(_ input: Span<UInt8>, at position: inout Int) -> WebSocketEvent? {
        while true {
            if stage == .payload {
                if left > 0 {
                    guard position < input.count else { return nil }
                    if let failure = takePayload(input, at: &position) { return fail(failure) }
                }
                guard left == 0 else { return nil }
                stage = .first
                if let event = endFrame() { return event }
            } else if stage == .ended {
                position = input.count
                return nil
            } else {
                guard position < input.count else { return nil }
                let byte = input[position]
                position += 1
                if let failure = takeHeader(byte) { return fail(failure) }
            }
        }
    }
}

// MARK: Header

extension WebSocketDecoder {
    private mutating func takeHeader(_ byte: UInt8) -> WebSocketFailure? {
        switch stage {
        case .first: return takeFirst(byte)
        case .second: return takeSecond(byte)
        case .length16, .length64: return takeLength(byte)
        case .mask: takeMask(byte)
        case .payload, .ended: break
        }
        return nil
    }

    /// Final bit, reserved bits, opcode.
    private mutating func takeFirst(_ byte: UInt8) -> WebSocketFailure? {
        let isDeflated = deflates && byte & 0x40 != 0
        guard byte & (deflates ? 0x30 : 0x70) == 0 else { return .reservedBits }
        guard let opcode = WebSocketOpcode(rawValue: byte & 0x0f) else { return .reservedOpcode }
        self.opcode = opcode
        isFinal = byte & 0x80 != 0
        switch opcode {
        case .close, .ping, .pong:
            guard isFinal else { return .fragmentedControl }
            guard !isDeflated else { return .deflatedControl }
        case .continuation:
            guard kind != nil else { return .strayContinuation }
            guard !isDeflated else { return .deflatedContinuation }
        case .text, .binary:
            guard kind == nil else { return .interruptedMessage }
            kind = opcode == .text ? .text : .binary
            self.isDeflated = isDeflated
        }
        if !opcode.isControl {
            guard fragments < fragmentsMax else { return .tooManyFragments }
            fragments += 1
        }
        stage = .second
        return nil
    }

    /// Mask bit and seven bits of length.
    private mutating func takeSecond(_ byte: UInt8) -> WebSocketFailure? {
        let isMasked = byte & 0x80 != 0
        switch role {
        case .server: guard isMasked else { return .unmaskedFrame }
        case .client: guard !isMasked else { return .maskedFrame }
        }
        let length = byte & 0x7f
        if opcode.isControl {
            guard length <= 125 else { return .controlTooLong }
            if opcode == .close && length == 1 { return .closeBodyTooShort }
        }
        left = 0
        switch length {
        case 126: (stage, due) = (.length16, 2)
        case 127: (stage, due) = (.length64, 8)
        default:
            left = UInt64(length)
            return endLength()
        }
        return nil
    }

    private mutating func takeLength(_ byte: UInt8) -> WebSocketFailure? {
        left = left << 8 | UInt64(byte)
        due &-= 1
        guard due == 0 else { return nil }
        guard left >> 63 == 0 else { return .lengthTopBit }
        guard left > (stage == .length16 ? 125 : 65_535) else { return .lengthNotMinimal }
        return endLength()
    }

    /// The length is known: refuse it now, or wait for mask or payload.
    private mutating func endLength() -> WebSocketFailure? {
        if !opcode.isControl {
            guard left <= UInt64(bytesMax - message.count) else { return .messageTooBig }
        }
        key = 0
        (stage, due) = role == .server ? (.mask, 4) : (.payload, 0)
        return nil
    }

    /// The most bytes of the unfinished message.
    ///
    /// Deflating makes some messages longer: one within its limit must be accepted in either form.
    private var bytesMax: Int { isDeflated ? messageBytesMax + messageBytesMax / 8 + 64 : messageBytesMax }

    /// Shifts a mask byte in; the first one ends up lowest.
    private mutating func takeMask(_ byte: UInt8) {
        key = key >> 8 | UInt32(byte) << 24
        due &-= 1
        if due == 0 { stage = .payload }
    }
}

// MARK: Payload

extension WebSocketDecoder {
    /// Takes available payload, at most to the frame's end; text is validated on arrival.
    private mutating func takePayload(_ input: Span<UInt8>, at position: inout Int) -> WebSocketFailure? {
        let count = min(input.count - position, Int(clamping: left))
        let part = input.extracting(position..<(position + count))
        position += count
        if opcode.isControl {
            if control.isEmpty { control.reserveCapacity(Int(clamping: left)) }
            key = control.append(unmasking: part, key: key)
        } else {
            let start = message.count
            reserveMessage(adding: count)
            key = message.append(unmasking: part, key: key)
            if kind == .text, !isDeflated {
                // A local copy, since `message`'s span borrows all of `self`.
                var text = self.text
                guard text.accept(message.span.extracting(start..<message.count)) else { return .invalidText }
                self.text = text
            }
        }
        left -= UInt64(count)
        return nil
    }

    /// Makes room by doubling, but never beyond the limit, nor beyond a last frame's end.
    private mutating func reserveMessage(adding count: Int) {
        let needed = message.count + count
        guard needed > message.capacity else { return }
        let end = isFinal ? message.count + Int(clamping: left) : bytesMax
        message.reserveCapacity(min(end, max(needed, message.capacity * 2)))
    }

    private mutating func endFrame() -> WebSocketEvent? {
        guard opcode.isControl else { return isFinal ? endMessage() : nil }
        let payload = control
        control = []
        switch opcode {
        case .ping: return .ping(payload)
        case .pong: return .pong(payload)
        default: return endConnection(payload)
        }
    }

    private mutating func endMessage() -> WebSocketEvent {
        guard text.isComplete else { return fail(.invalidText) }
        let event: WebSocketEvent =
            isDeflated
            ? .deflated(kind: kind ?? .binary, payload: message)
            : .message(kind: kind ?? .binary, payload: message)
        message = []
        kind = nil
        fragments = 0
        return event
    }

    /// A close frame (section 5.5.1): nothing, or a code and a reason.
    private mutating func endConnection(_ body: [UInt8]) -> WebSocketEvent {
        var code: UInt16?
        if body.count >= 2 {
            let value = UInt16(body[0]) << 8 | UInt16(body[1])
            guard WebSocketCloseCode.isAllowed(value) else { return fail(.closeCodeInvalid) }
            code = value
        }
        let reason = Array(body.dropFirst(2))
        guard UTF8Text.isValid(reason) else { return fail(.closeReasonInvalidText) }
        end()
        return .close(code: code, reason: reason)
    }

    private mutating func fail(_ failure: WebSocketFailure) -> WebSocketEvent {
        end()
        return .failed(failure)
    }

    private mutating func end() {
        message = []
        control = []
        stage = .ended
    }
}
