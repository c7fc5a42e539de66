import Core

/// The answer of an outside service; its bytes are untrusted.
public struct WebReply: Sendable {
    /// The status.
    public let status: Int
    /// 2 for HTTP/2, 1 for HTTP/1.1 and before.
    public let version: Int
    /// The head's fields in their order; names in lower case.
    public let headers: [(name: String, value: [UInt8])]
    /// The body, within the engine's limit.
    public let body: [UInt8]

    /// Makes an answer.
    public init(status: Int, version: Int = 2, headers: [(name: String, value: [UInt8])] = [], body: [UInt8] = []) {
        self.status = status
        self.version = version
        self.headers = headers
        self.body = body
    }

    /// The first field of that name, which is in lower case; `nil` when there is none.
    public func header(_ name: String) -> [UInt8]? {
        headers.first { $0.name == name }?.value
    }

    /// Whether the request succeeded: 200 to 299.
    public var isGood: Bool { (200..<300).contains(status) }

    /// The seconds of `Retry-After`, one day at most (RFC 9110 section 10.2.3); `nil` when it is absent or a date.
    public var retryAfterSeconds: Int? {
        header("retry-after").flatMap { ASCII.decimal($0) }.map { min($0, 86_400) }
    }
}
