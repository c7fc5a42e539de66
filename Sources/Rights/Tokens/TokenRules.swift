/// The requirements of a verifier beyond a valid signature.
public struct TokenRules: Sendable, Equatable {
    /// Bytes of a token; a longer one is refused unread.
    ///
    /// Default of the gateway: `Limits.tokenBytesMax`.
    public var tokenBytesMax: Int
    /// Seconds of grace on `exp` and `nbf` for clocks that differ.
    ///
    /// Default of the gateway: 30.
    public var leewaySeconds: Int
    /// The `iss` every token must carry; `nil`: any or none.
    public var issuer: [UInt8]?
    /// The value that `aud` must be or contain; `nil`: `aud` is not checked.
    public var audience: [UInt8]?
    /// The roles that values of the claim `role` stand for, beside `user` and `service`, which they may also redefine.
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

/// The meaning of another issuer's role.
public enum TokenRole: String, CaseIterable, Sendable {
    /// A person's app; `sub` is the user.
    case user
    /// A backend; may do everything.
    case service
    /// No user: the token has the rights of none.
    case anonymous
}
