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
    /// What names of the claim `role` mean, beside `user` and `service`, which they may also redefine.
    ///
    /// A token of a role that is named here needs no `sub` unless the role is a user's.
    public var roles: [[UInt8]: TokenRole]

    /// Makes rules.
    public init(
        tokenBytesMax: Int, leewaySeconds: Int, issuer: [UInt8]?, audience: [UInt8]?, roles: [[UInt8]: TokenRole] = [:]
    ) {
        self.tokenBytesMax = tokenBytesMax
        self.leewaySeconds = leewaySeconds
        self.issuer = issuer
        self.audience = audience
        self.roles = roles
    }
}

/// What a role of another issuer means here.
public enum TokenRole: String, CaseIterable, Sendable {
    /// A person's app; `sub` is the user.
    case user
    /// A backend; may do everything.
    case service
    /// Nobody: the token is as good as none.
    case anonymous
}
