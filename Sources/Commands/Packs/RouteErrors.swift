import Core

/// How the refusals of all routes below a prefix look, as a pack's `pack.json` says.
public struct RouteErrors: Equatable, Sendable {
    /// A refusal as the gateway tells it elsewhere, and what this request is called.
    public struct Refused: Sendable {
        /// The code of the table or of a script's own.
        public let code: String
        /// The sentence.
        public let message: String
        /// The status.
        public let status: Int
        /// The name of the request.
        public let request: String
        /// After how many seconds to try again.
        public let retryAfterSeconds: Int?

        /// Takes a refusal.
        public init(code: String, message: String, status: Int, request: String, retryAfterSeconds: Int?) {
            (self.code, self.message, self.status) = (code, message, status)
            (self.request, self.retryAfterSeconds) = (request, retryAfterSeconds)
        }
    }

    /// The parts of the prefix, without slashes; at least one.
    let segments: [String]
    /// Other statuses for codes of the table.
    let statuses: [ErrorCode: Int]
    /// How a refusal looks.
    let body: ErrorShape
    /// How refusals with these codes look.
    let bodies: [String: ErrorShape]

    /// The prefix as it is written: `/api/v1/`.
    public var prefix: String { "/" + segments.joined(separator: "/") + "/" }

    /// Whether a path of these decoded parts lies below the prefix.
    public func owns(_ path: [String]) -> Bool { path.count > segments.count && path.starts(with: segments) }

    /// Whether a refusal has the status that its code has by itself.
    ///
    /// Only such a one gets another status: that of 405 and 413 says more than their code does.
    private func isPlain(_ refused: Refused) -> Bool {
        ErrorCode(rawValue: refused.code).map { $0.httpStatus == refused.status } ?? true
    }

    /// The status of a refusal and its body, JSON text.
    public func answer(_ refused: Refused) -> (status: Int, body: [UInt8]) {
        let isPlain = isPlain(refused)
        let own = isPlain ? ErrorCode(rawValue: refused.code).flatMap { statuses[$0] } : nil
        let shape = (isPlain ? bodies[refused.code] : nil) ?? body
        let told = Refused(
            code: refused.code, message: refused.message, status: own ?? refused.status, request: refused.request,
            retryAfterSeconds: refused.retryAfterSeconds)
        return (told.status, shape.node(told).bytes)
    }

    /// Whether the answers tell what the request is called.
    public var namesRequests: Bool { ([body] + bodies.values).contains { $0.holds(.request) } }
}
