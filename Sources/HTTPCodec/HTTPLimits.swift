public import Core

/// The limits of one HTTP request, far below memory; each has the status with which it is refused.
public struct HTTPLimits: Sendable, Equatable {
    /// Bytes of the request line without its line end; one more is 414 (RFC 9112 section 3).
    public let requestLineBytesMax: Int
    /// Bytes of the whole head, request line and line ends included; one more is 431 (RFC 6585 section 5).
    ///
    /// The same figure bounds chunk extensions and trailers together.
    public let headBytesMax: Int
    /// Header fields of one head, and again of one trailer section; one more is 431.
    public let headersMax: Int
    /// Bytes of the decoded body; one more is 413, from the declared length alone if there is one.
    public let bodyBytesMax: Int

    /// Makes the limits of a parser; there are no defaults here, they are in ``Core/Limits``.
    public init(requestLineBytesMax: Int, headBytesMax: Int, headersMax: Int, bodyBytesMax: Int) {
        self.requestLineBytesMax = requestLineBytesMax
        self.headBytesMax = headBytesMax
        self.headersMax = headersMax
        self.bodyBytesMax = bodyBytesMax
    }

    /// Takes the four HTTP limits from the gateway's limits.
    public init(_ limits: Limits) {
        self.init(
            requestLineBytesMax: limits.requestLineBytesMax, headBytesMax: limits.headBytesMax,
            headersMax: limits.headersMax, bodyBytesMax: limits.bodyBytesMax)
    }

    /// The same limits with a smaller one for the body.
    func limitingBody(to bytesMax: Int) -> HTTPLimits {
        HTTPLimits(
            requestLineBytesMax: requestLineBytesMax, headBytesMax: headBytesMax, headersMax: headersMax,
            bodyBytesMax: min(bytesMax, bodyBytesMax))
    }
}
