import Core

extension HTTPRequestHead {
    /// Fields that the gateway acts on or may repeat: visible ASCII, spaces and HTAB only.
    ///
    /// Those marked true must not occur twice: two parties could each use a different one.
    private static let guarded: [(name: String, isSingle: Bool)] = [
        ("host", true), ("content-length", true), ("transfer-encoding", true), ("content-type", true),
        ("origin", true), ("authorization", true), ("apikey", true), ("expect", true),
        ("sec-websocket-key", true), ("sec-websocket-version", true), ("connection", false), ("upgrade", false),
        ("content-encoding", false), ("sec-websocket-protocol", false), ("sec-websocket-extensions", false),
        ("access-control-request-method", false), ("access-control-request-headers", false),
        ("idempotency-key", false), ("last-event-id", false),
    ]

    /// Interprets a request line and header fields whose grammar was checked before.
    init(line: HTTPRequestLine, headers: HTTPHeaders, limits: HTTPLimits) throws(HTTPFailure) {
        try HTTPRequestHead.checkFields(headers)
        let authority = try HTTPRequestHead.host(line: line, headers: headers)
        let framing = try HTTPRequestHead.framing(headers, isVersion11: line.isVersion11, limits: limits)
        try HTTPRequestHead.checkContentEncoding(headers)
        let expectation = try HTTPRequestHead.hasExpectation(headers)
        let webSocket = try HTTPUpgrade(
            method: line.method, isVersion11: line.isVersion11, body: framing, headers: headers)
        let parts = HTTPHeadParts(
            line: line, headers: headers.without("content-length"), host: authority,
            keepAlive: line.isVersion11 && webSocket == nil && !headers.hasToken("close", in: "connection"),
            expectsContinue: expectation && line.isVersion11 && framing != .none, upgrade: webSocket)
        self.init(parts, body: framing)
    }

    private static func checkFields(_ headers: HTTPHeaders) throws(HTTPFailure) {
        var seen: UInt32 = 0
        for field in 0..<headers.count {
            guard let row = guarded.firstIndex(where: { headers.isField(field, named: $0.name) }) else { continue }
            let (name, isSingle) = guarded[row]
            let bit = UInt32(1) << UInt32(row)
            if isSingle && seen & bit != 0 { throw .badRequest("The header \(name) must not be repeated") }
            seen |= bit
            if !headers.isASCII(field) { throw .badRequest("The header \(name) must be ASCII") }
        }
    }

    /// RFC 9112 section 3.2: one valid `Host` in HTTP/1.1, equal to the host of an absolute-form target.
    private static func host(line: HTTPRequestLine, headers: HTTPHeaders) throws(HTTPFailure) -> [UInt8] {
        guard let host = headers.first("host") else {
            if line.isVersion11 { throw .badRequest("The header Host is missing") }
            return line.target.authority ?? []
        }
        guard HTTPGrammar.isHost(host) else {
            throw .badRequest("The header Host must be a host with or without a port")
        }
        if let authority = line.target.authority, !ASCII.equalIgnoringCase(authority, host) {
            throw .badRequest("The header Host and the host in the request target differ")
        }
        return Array(host)
    }

    /// RFC 9112 section 6, without its tolerances: one plain number, or exactly `chunked`, never both.
    private static func framing(
        _ headers: HTTPHeaders, isVersion11: Bool, limits: HTTPLimits
    ) throws(HTTPFailure) -> HTTPBodyFraming {
        let length = headers.first("content-length")
        let coding = headers.first("transfer-encoding")
        if let coding {
            guard length == nil else {
                throw .badRequest("Content-Length and Transfer-Encoding together are not allowed")
            }
            guard isVersion11 else { throw .badRequest("Transfer-Encoding needs HTTP/1.1") }
            if ASCII.equalIgnoringCase(coding, "chunked".utf8) { return .chunked }
            let names = headers.tokens(of: "transfer-encoding")
            let chunked = names.filter { ASCII.equalIgnoringCase($0, "chunked".utf8) }.count
            let endsChunked = names.last.map { ASCII.equalIgnoringCase($0, "chunked".utf8) } == true
            guard chunked == 1, endsChunked, names.count > 1, names.allSatisfy({ HTTPGrammar.isToken($0) }) else {
                throw .badRequest("Transfer-Encoding must be chunked, once and nothing else")
            }
            throw .unsupported(501, "Transfer codings other than chunked are not supported")
        }
        guard let length else { return .none }
        guard !length.isEmpty, length.allSatisfy(ASCII.isDigit), length.count == 1 || length.first != 0x30 else {
            throw .badRequest("Content-Length must be one number of decimal digits without leading zeros")
        }
        guard let count = ASCII.decimal(length), count <= limits.bodyBytesMax else {
            throw .tooLarge(413, "The body must not exceed \(limits.bodyBytesMax) bytes")
        }
        return count == 0 ? .none : .length(count)
    }

    /// Bodies are never inflated here, so that no small request becomes a large one.
    private static func checkContentEncoding(_ headers: HTTPHeaders) throws(HTTPFailure) {
        for coding in headers.tokens(of: "content-encoding")
        where !ASCII.equalIgnoringCase(coding, "identity".utf8) {
            throw .unsupported(415, "Content-Encoding is not supported; send the body as it is")
        }
    }

    private static func hasExpectation(_ headers: HTTPHeaders) throws(HTTPFailure) -> Bool {
        guard let expectation = headers.first("expect") else { return false }
        guard ASCII.equalIgnoringCase(expectation, "100-continue".utf8) else {
            throw .unsupported(417, "The only expectation supported is 100-continue")
        }
        return true
    }
}
