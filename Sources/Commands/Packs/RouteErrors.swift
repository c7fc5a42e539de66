public import Core

/// The form of refusals on all routes below a prefix, as a pack's `pack.json` declares it.
public struct RouteErrors: Equatable, Sendable {
    /// A refusal in the gateway's terms, with the name of the request.
    public struct Refused: Sendable {
        /// A code of ``ErrorCode`` or of a script's own.
        public let code: String
        /// The sentence.
        public let message: String
        /// The part of the request that it is about.
        public let subject: Refusal.Subject
        /// The status.
        public let status: Int
        /// The name of the request.
        public let request: String
        /// The seconds after which to try again; `nil` when they are not known.
        public let retryAfterSeconds: Int?

        /// Takes a refusal.
        public init(
            code: String, message: String, status: Int, request: String, retryAfterSeconds: Int?,
            about subject: Refusal.Subject = .request
        ) {
            (self.code, self.message, self.status, self.subject) = (code, message, status, subject)
            (self.request, self.retryAfterSeconds) = (request, retryAfterSeconds)
        }
    }

    /// The parts of the prefix, without slashes; at least one.
    let segments: [String]
    /// Other statuses for codes of ``ErrorCode``.
    let statuses: [ErrorCode: Int]
    /// The form of a refusal.
    let body: ErrorShape
    /// The forms of refusals with these codes.
    let bodies: [String: ErrorShape]
    /// Sentences for people in place of the gateway's own, by the code or the argument that a refusal is about.
    let sentences: Sentences
    /// Whether a request may have members that its command does not know.
    public let ignoresUnknown: Bool
    /// Whether clients may keep answers to GET, and validate them by their entity tags.
    public let answersAreCached: Bool

    /// Sentences for people.
    struct Sentences: Equatable, Sendable {
        var byCode: [String: String] = [:]
        var byArgument: [String: String] = [:]

        /// The sentence of a refusal; a script's own sentence stays.
        func sentence(_ refused: Refused) -> String {
            switch refused.subject {
            case .script: refused.message
            case .request: byCode[refused.code] ?? refused.message
            case .argument(let name): byArgument[name] ?? byCode[refused.code] ?? refused.message
            }
        }
    }

    /// The prefix as `pack.json` has it: `/api/v1/`.
    public var prefix: String { "/" + segments.joined(separator: "/") + "/" }

    /// Whether a path of these decoded parts lies below the prefix.
    func owns(_ path: [String]) -> Bool { path.count > segments.count && path.starts(with: segments) }

    /// Whether a refusal has its code's own status.
    ///
    /// Only such a refusal gets another status and form: 405 and 413 say more than their codes do.
    private func isPlain(_ refused: Refused) -> Bool {
        ErrorCode(rawValue: refused.code).map { $0.httpStatus == refused.status } ?? true
    }

    /// The status of a refusal and its body, JSON text.
    public func answer(_ refused: Refused) -> (status: Int, body: [UInt8]) {
        let isPlain = isPlain(refused)
        let own = isPlain ? ErrorCode(rawValue: refused.code).flatMap { statuses[$0] } : nil
        let shape = (isPlain ? bodies[refused.code] : nil) ?? body
        let told = Refused(
            code: refused.code, message: sentences.sentence(refused), status: own ?? refused.status,
            request: refused.request, retryAfterSeconds: refused.retryAfterSeconds)
        return (told.status, shape.node(told).bytes)
    }

    /// Whether the answers contain the name of the request.
    public var namesRequests: Bool { ([body] + bodies.values).contains { $0.holds(.request) } }
}

extension Sequence<RouteErrors> {
    /// The form for a path; `nil`: the usual one.
    public func owner(of path: [String]) -> RouteErrors? { first { $0.owns(path) } }
}
