public import Core

/// The reason why the codec itself refused a request, before it reached a route.
///
/// A failure is final for its connection: no request can be located reliably after the bad bytes (RFC 9112 section
/// 11.2). So the answer carries `Connection: close` and nothing more is read. The message names the rule that was
/// broken and the place, and never repeats a byte of the input.
public struct HTTPFailure: Error, Equatable, Sendable {
    /// The HTTP status to answer with: 400, 413, 414, 415, 417, 426, 431, 501 or 505; 408 is the caller's.
    public let status: Int
    /// The error for the client, in the gateway's one vocabulary.
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
