public import Core

/// The rule of RFC 6455 that a peer broke; the connection must be failed (section 7.1.7) with ``closeReason``.
///
/// Raw values are for log fields and tests.
public enum WebSocketFailure: String, Error, CaseIterable, Sendable {
    /// A reserved bit is set that has no meaning in an agreed extension (section 5.2).
    case reservedBits = "reserved_bits"
    /// A control frame is marked as deflated (RFC 7692 section 5.1).
    case deflatedControl = "deflated_control"
    /// A continuation is marked as deflated, although only a message's first frame may be (RFC 7692 section 6).
    case deflatedContinuation = "deflated_continuation"
    /// A deflated message that cannot be inflated (RFC 7692 section 7.2.2).
    case corruptDeflate = "corrupt_deflate"
    /// Opcode 3...7 or 11...15 (section 5.2).
    case reservedOpcode = "reserved_opcode"
    /// A control frame without the final bit (section 5.5).
    case fragmentedControl = "fragmented_control"
    /// A control frame that announces more than 125 bytes (section 5.5).
    case controlTooLong = "control_too_long"
    /// A continuation while no message is unfinished (section 5.4).
    case strayContinuation = "stray_continuation"
    /// A new text or binary frame while a message is unfinished (section 5.4).
    case interruptedMessage = "interrupted_message"
    /// A client's frame without a mask (section 5.1).
    case unmaskedFrame = "unmasked_frame"
    /// A server's frame with a mask (section 5.1).
    case maskedFrame = "masked_frame"
    /// A 64-bit length whose highest bit is set (section 5.2).
    case lengthTopBit = "length_top_bit"
    /// A length written in more bytes than it needs (section 5.2).
    case lengthNotMinimal = "length_not_minimal"
    /// A close body of one byte, too short for a code (section 5.5.1).
    case closeBodyTooShort = "close_body_too_short"
    /// A close code that is not allowed (section 7.4).
    case closeCodeInvalid = "close_code_invalid"
    /// A close reason that is not UTF-8 (sections 5.5.1 and 8.1).
    case closeReasonInvalidText = "close_reason_invalid_text"
    /// A text message that is not UTF-8 (section 8.1).
    case invalidText = "invalid_text"
    /// A message beyond ``WebSocketLimits/messageBytesMax`` (section 10.4).
    case messageTooBig = "message_too_big"
    /// A message in more frames than ``WebSocketLimits/fragmentsMax`` (section 10.4).
    case tooManyFragments = "too_many_fragments"

    /// The reason of the connection's end, which also gives the close code to send.
    public var closeReason: CloseReason {
        switch self {
        case .invalidText, .closeReasonInvalidText: .invalidText
        case .messageTooBig: .messageTooBig
        case .tooManyFragments: .policyViolation
        default: .protocolError
        }
    }

    /// A sentence for the peer's developer, fit for a close frame (under 123 bytes, ASCII, free of input).
    public var explanation: String {
        switch self {
        case .reservedBits: "A reserved bit is set that no extension agreed on gives a meaning."
        case .deflatedControl: "Control frames must not be deflated."
        case .deflatedContinuation: "The first frame says for the whole message whether it is deflated."
        case .corruptDeflate: "The message cannot be inflated."
        case .reservedOpcode: "The opcode is reserved."
        case .fragmentedControl: "A control frame must not be fragmented."
        case .controlTooLong: "A control frame carries at most 125 bytes."
        case .strayContinuation: "A continuation came, but no message is unfinished."
        case .interruptedMessage: "A new message began inside an unfinished one."
        case .unmaskedFrame: "Frames from a client must be masked."
        case .maskedFrame: "Frames from a server must not be masked."
        case .lengthTopBit: "The highest bit of a 64-bit length must be 0."
        case .lengthNotMinimal: "A length must be written in as few bytes as possible."
        case .closeBodyTooShort: "A close body is empty or begins with a two-byte code."
        case .closeCodeInvalid: "The close code must not be sent."
        case .closeReasonInvalidText: "The close reason is not UTF-8."
        case .invalidText: "A text message is not UTF-8."
        case .messageTooBig: "The message is larger than the limit."
        case .tooManyFragments: "The message has more fragments than the limit."
        }
    }
}
