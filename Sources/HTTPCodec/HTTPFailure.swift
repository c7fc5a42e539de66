public import Core

/// Why a request was refused by the codec itself, before any route saw it.
///
/// A failure is final for its connection: what follows the bad bytes cannot be trusted to be where a request begins
/// (RFC 9112 section 11.2), so the answer carries `Connection: close` and nothing more is read. The message names
/// the rule that was broken and where, and never repeats a byte of the input.
public struct HTTPFailure: Error, Equatable, Sendable {
    /// The HTTP status to answer with: 400, 413, 414, 415, 417, 426, 431, 501 or 505; 408 is the caller's.
    public let status: Int
    /// The error told to the client, in the gateway's one vocabulary.
    public let refusal: Refusal

    /// Makes a failure with a status of its own.
    public init(status: Int, refusal: Refusal) {
        self.status = status
        self.refusal = refusal
    }

    /// 408: a deadline for the head or the body passed; made by the owner of the clock.
    public static func requestTimeout(_ message: String) -> HTTPFailure {
        HTTPFailure(status: 408, refusal: Refusal(.badRequest, message))
    }

    static func badRequest(_ message: String) -> HTTPFailure {
        HTTPFailure(status: 400, refusal: Refusal(.badRequest, message))
    }

    static func tooLarge(_ status: Int, _ message: String) -> HTTPFailure {
        HTTPFailure(status: status, refusal: Refusal(.tooLarge, message))
    }

    static func unsupported(_ status: Int, _ message: String) -> HTTPFailure {
        HTTPFailure(status: status, refusal: Refusal(.badRequest, message))
    }
}
