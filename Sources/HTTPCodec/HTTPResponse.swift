public import Core

/// One answer, built from values that cannot contain delimiters, and encoded at once.
public struct HTTPResponse: Sendable, Equatable {
    /// One header field to be sent.
    public struct Field: Sendable, Equatable {
        /// The name.
        public let name: HTTPHeaderName
        /// The value.
        public let value: HTTPHeaderValue

        /// Makes a field.
        public init(_ name: HTTPHeaderName, _ value: HTTPHeaderValue) {
            self.name = name
            self.value = value
        }
    }

    /// The interim answer to `Expect: 100-continue`, ready to be sent before the body is read.
    public static let continue100: [UInt8] = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    /// The error in an answer.
    public struct Failure: Sendable, Equatable {
        /// The code.
        public let code: String
        /// The sentence.
        public let message: String
        /// The part of the request that it is about.
        public let subject: Refusal.Subject
    }

    /// The status; 101 or 200...599.
    public let status: Int
    /// The error in the body, in the gateway's own form; `nil` for any other answer.
    public private(set) var failure: Failure?
    /// The value of ``setRetryAfter(seconds:)``; `nil` when it was not set.
    public private(set) var retryAfterSeconds: Int?
    /// The header fields in the order they are sent, without those the encoder writes itself.
    public private(set) var fields: [Field] = []
    /// The body; not sent in answer to HEAD, nor with 101, 204 and 304.
    public var body: [UInt8]
    /// Whether the connection may serve another request after this answer; if not, `Connection: close` is sent.
    public var keepAlive: Bool

    /// Makes an answer; a status outside 200...599 is a fault of the gateway and becomes 500.
    public init(status: Int, body: [UInt8], keepAlive: Bool) {
        self.status = (200...599).contains(status) ? status : 500
        self.body = body
        self.keepAlive = keepAlive
    }

    private init(switchingProtocols fields: [Field]) {
        status = 101
        body = []
        keepAlive = true
        self.fields = fields
    }

    /// The answer that opens a WebSocket (RFC 6455 section 4.2.2).
    public static func switchingProtocols(
        accept: HTTPHeaderValue, subprotocol: HTTPHeaderValue?, extensions: HTTPHeaderValue?
    ) -> HTTPResponse {
        var response = HTTPResponse(switchingProtocols: [])
        response.add(.upgrade, "websocket")
        response.add(.secWebSocketAccept, accept)
        if let subprotocol { response.add(.secWebSocketProtocol, subprotocol) }
        if let extensions { response.add(.secWebSocketExtensions, extensions) }
        return response
    }

    /// An answer whose body is JSON text, passed as bytes.
    public static func json(status: Int, body: [UInt8], keepAlive: Bool) -> HTTPResponse {
        var response = HTTPResponse(status: status, body: body, keepAlive: keepAlive)
        response.fields = jsonFields
        return response
    }

    /// The fields of most answers, made once.
    private static let jsonFields = fields(of: .json)

    private static func fields(of contentType: HTTPHeaderValue) -> [Field] {
        [Field(.contentType, contentType), Field(.xContentTypeOptions, .noSniff)]
    }

    /// An answer whose body is plain UTF-8 text.
    public static func text(status: Int, body: String, keepAlive: Bool) -> HTTPResponse {
        typed("text/plain; charset=utf-8", status: status, body: Array(body.utf8), keepAlive: keepAlive)
    }

    /// An answer with a body of the given type; a field forbids browsers to guess another.
    public static func typed(
        _ contentType: HTTPHeaderValue, status: Int, body: [UInt8], keepAlive: Bool
    ) -> HTTPResponse {
        var response = HTTPResponse(status: status, body: body, keepAlive: keepAlive)
        response.fields = fields(of: contentType)
        return response
    }

    /// The answer to a request that the codec refused; closes the connection.
    public static func refusal(_ failure: HTTPFailure) -> HTTPResponse {
        refusal(failure.refusal, status: failure.status, keepAlive: false)
    }

    /// The answer to a request that a route refused, with the status of its error code.
    public static func refusal(_ refusal: Refusal, keepAlive: Bool) -> HTTPResponse {
        self.refusal(refusal, status: refusal.status, keepAlive: keepAlive)
    }

    /// The 405 for a path that exists with other methods; RFC 9110 section 15.5.6 demands that they be named.
    public static func methodNotAllowed(_ allowed: [HTTPMethod], keepAlive: Bool) -> HTTPResponse {
        let names = allowed.map(\.rawValue).joined(separator: ", ")
        let refusal = Refusal(.badRequest, "This path takes \(names)")
        var response = self.refusal(refusal, status: 405, keepAlive: keepAlive)
        response.set(.allow, HTTPHeaderValue(names) ?? "")
        return response
    }

    /// The answer `{"error":{"code":...,"message":...}}`, with the fields that its status demands.
    public static func refusal(_ refusal: Refusal, status: Int, keepAlive: Bool) -> HTTPResponse {
        var response = error(
            refusal.name, refusal.message, status: status, keepAlive: keepAlive, about: refusal.subject)
        if let waitMs = refusal.retryAfterMs { response.setRetryAfter(ms: waitMs) }
        return response
    }

    /// As ``refusal(_:status:keepAlive:)``, with a code that need not be in the table.
    public static func error(
        _ code: String, _ message: String, status: Int, keepAlive: Bool, about subject: Refusal.Subject = .request
    ) -> HTTPResponse {
        var body: [UInt8] = []
        body.append(text: "{\"error\":{\"code\":")
        body.append(jsonString: code)
        body.append(text: ",\"message\":")
        body.append(jsonString: message)
        body.append(text: "}}")
        var response = json(status: status, body: body, keepAlive: keepAlive)
        response.failure = Failure(code: code, message: message, subject: subject)
        switch status {
        case 401: response.add(.wwwAuthenticate, "Bearer")
        case 415: response.add(.acceptEncoding, "identity")
        case 426:
            response.add(.upgrade, "websocket")
            response.add(.secWebSocketVersion, "13")
        default: break
        }
        return response
    }

    /// The same answer, its fields included, with another status and another body of JSON text.
    public func rewritten(status: Int, body: [UInt8]) -> HTTPResponse {
        var response = HTTPResponse(status: status, body: body, keepAlive: keepAlive)
        response.fields = fields
        return response
    }

    /// The head of an answer whose body continues until the connection ends (WHATWG HTML, section 9.2).
    ///
    /// - Parameter fields: Further fields, beside the type and those that forbid caching and buffering.
    public static func eventStream(_ fields: [Field]) -> [UInt8] {
        var response = HTTPResponse(status: 200, body: [], keepAlive: false)
        response.add(.contentType, "text/event-stream; charset=utf-8")
        response.add(.cacheControl, "no-cache, no-store, no-transform")
        response.add(.xAccelBuffering, "no")
        response.add(.xContentTypeOptions, "nosniff")
        for field in fields { response.set(field.name, field.value) }
        return response.head(length: nil)
    }

    /// Adds a field, or replaces every field of its name.
    public mutating func set(_ name: HTTPHeaderName, _ value: HTTPHeaderValue) {
        fields.removeAll { $0.name == name }
        add(name, value)
    }

    /// Whether there is a field of that name.
    public func has(_ name: HTTPHeaderName) -> Bool { fields.contains { $0.name == name } }

    /// Adds a field beside others of its name.
    public mutating func add(_ name: HTTPHeaderName, _ value: HTTPHeaderValue) {
        fields.append(Field(name, value))
    }

    /// Sets the time after which the client may retry; below 0 counts as 0 (RFC 9110 section 10.2.3).
    public mutating func setRetryAfter(seconds: Int) {
        retryAfterSeconds = max(0, seconds)
        set(.retryAfter, HTTPHeaderValue(decimal: max(0, seconds)))
    }

    /// As ``setRetryAfter(seconds:)``, rounded up to whole seconds, at least one.
    public mutating func setRetryAfter(ms: Int) {
        setRetryAfter(seconds: max(1, ms / 1_000 + (ms % 1_000 > 0 ? 1 : 0)))
    }

    /// The bytes to send.
    ///
    /// - Parameters:
    ///   - method: The method of the request; `nil` if it never became known. An answer to HEAD has the length of the
    ///     body but not the body.
    ///   - more: Fields that follow the answer's own.
    public func encoded(for method: HTTPMethod?, followedBy more: [Field] = []) -> [UInt8] {
        let hasContent = status != 101 && status != 204 && status != 304
        var bytes = head(length: hasContent ? body.count : nil, more)
        if hasContent && method != .head { bytes.append(contentsOf: body) }
        return bytes
    }

    /// The bytes up to the body; `length` is that of the body, `nil` when none is sent.
    private func head(length: Int?, _ more: [Field] = []) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(64 + 48 * (fields.count + more.count + 2) + (length ?? 0))
        bytes.append(text: "HTTP/1.1 ")
        bytes.append(decimal: status)
        bytes.append(text: " ")
        bytes.append(text: HTTPStatus.phrase(status))
        bytes.append(text: "\r\n")
        for field in fields { append(field.name.rawValue, field.value.bytes, to: &bytes) }
        for field in more { append(field.name.rawValue, field.value.bytes, to: &bytes) }
        if let length {
            bytes.append(text: "Content-Length: ")
            bytes.append(decimal: length)
            bytes.append(text: "\r\n")
        }
        if let options = connectionOptions { append("Connection", Array(options.utf8), to: &bytes) }
        bytes.append(text: "\r\n")
        return bytes
    }

    /// RFC 9110 section 7.8: a sender of `Upgrade` names it in `Connection`.
    private var connectionOptions: String? {
        if status == 101 { return "Upgrade" }
        let hasUpgrade = fields.contains { $0.name == .upgrade }
        switch (keepAlive, hasUpgrade) {
        case (false, false): return "close"
        case (false, true): return "close, Upgrade"
        case (true, true): return "Upgrade"
        case (true, false): return nil
        }
    }

    private func append(_ name: String, _ value: [UInt8], to bytes: inout [UInt8]) {
        bytes.append(text: name)
        bytes.append(text: ": ")
        bytes.append(contentsOf: value)
        bytes.append(text: "\r\n")
    }
}
