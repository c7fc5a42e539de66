/// The name of an error in every dialect and in HTTP; one table for wire, logs and metrics.
public enum ErrorCode: String, CaseIterable, Sendable {
    /// The request is malformed; repeating it is useless.
    case badRequest = "bad_request"
    /// No valid credentials.
    case unauthorized
    /// Valid credentials without the right.
    case forbidden
    /// No such route, namespace, command or thing.
    case notFound = "not_found"
    /// The state does not allow it.
    case conflict
    /// A size limit was exceeded.
    case tooLarge = "too_large"
    /// A rate limit was exceeded; try later.
    case rateLimited = "rate_limited"
    /// Redis cannot accept it now; try later.
    case unavailable
    /// A fault of the gateway.
    case internalError = "internal"

    /// The HTTP status that carries this code (RFC 9110 section 15).
    public var httpStatus: Int {
        switch self {
        case .badRequest: 400
        case .unauthorized: 401
        case .forbidden: 403
        case .notFound: 404
        case .conflict: 409
        case .tooLarge: 413
        case .rateLimited: 429
        case .internalError: 500
        case .unavailable: 503
        }
    }
}

/// An error sent to a client: a code of the table, and a sentence with the fault and its remedy.
public struct Refusal: Error, Equatable, Sendable {
    /// The part of a request that a refusal is about, for apps with sentences of their own.
    public enum Subject: Equatable, Sendable {
        /// The request as a whole.
        case request
        /// An argument, by its name on the wire.
        case argument(String)
        /// The script's own concern: its sentence is the app's already.
        case script
    }

    /// The kind of error.
    public let code: ErrorCode
    /// A sentence for the developer of the client; never contains a secret or unescaped input.
    public let message: String
    /// Milliseconds after which the same may be tried again; `nil` where unknown.
    public let retryAfterMs: Int?
    /// The name of the error: the code, or a script's own word.
    public let name: String
    /// The HTTP status.
    public let status: Int
    /// The part of the request that it is about.
    public let subject: Subject

    /// Makes a refusal of the gateway's own.
    public init(_ code: ErrorCode, _ message: String, retryAfterMs: Int? = nil, about subject: Subject = .request) {
        self.code = code
        self.message = message
        self.retryAfterMs = retryAfterMs
        self.subject = subject
        (name, status) = (code.rawValue, code.httpStatus)
    }

    /// Makes the refusal of a script, under a word of the table or of its own with the status that carries it.
    public init(named name: String, status: Int, _ message: String) {
        code =
            ErrorCode.allCases.first { $0.rawValue == name } ?? ErrorCode.allCases.first { $0.httpStatus == status }
            ?? .conflict
        (self.name, self.status, self.message, retryAfterMs) = (name, status, message, nil)
        subject = .script
    }
}
