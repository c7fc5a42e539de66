/// What a verifier asks of every token beyond a good signature.
public struct TokenRules: Sendable, Equatable {
    /// Bytes of a token; beyond, it is refused unread.
    ///
    /// Default of the gateway: `Limits.tokenBytesMax`.
    public var tokenBytesMax: Int
    /// Seconds of grace on `exp` and `nbf` for clocks that differ.
    ///
    /// Default of the gateway: 30.
    public var leewaySeconds: Int
    /// The `iss` every token must carry; `nil`: any or none.
    public var issuer: [UInt8]?
    /// The value that `aud` must be or contain; `nil`: `aud` is not judged.
    public var audience: [UInt8]?

    /// Makes rules.
    public init(tokenBytesMax: Int, leewaySeconds: Int, issuer: [UInt8]?, audience: [UInt8]?) {
        self.tokenBytesMax = tokenBytesMax
        self.leewaySeconds = leewaySeconds
        self.issuer = issuer
        self.audience = audience
    }
}
