import Core

/// Reads the claims of a token with a valid signature, and checks them by the rules.
struct TokenClaimReader {
    let claims: JSON.Value
    let rules: TokenRules
    let now: Int

    /// Times are within 1970 and the end of 9999, so that adding a leeway cannot overflow.
    static let times = 0...253_402_300_799
    /// Bytes of `iss`.
    static let issuerBytesMax = 256

    /// The bearer of the token, which that key signed.
    func caller(verifiedBy key: TokenKey) throws(TokenFailure) -> Caller {
        let issuer = try issuer(boundTo: key)
        try checkAudience()
        guard let expiresAt = try time("exp") else { throw .time }
        let notBefore = try time("nbf")
        let issuedAt = try time("iat")
        let leeway = max(0, rules.leewaySeconds)
        guard now < expiresAt + leeway else { throw .expired }
        if let notBefore, now < notBefore - leeway { throw .notYet }
        guard let (role, standIn) = try role() else { return .anonymous }
        let topics = try topics()
        guard
            let identity = Identity(
                user: claims["sub"].map { $0.stringBytes ?? [] } ?? standIn, role: role, topics: topics,
                expiresAt: expiresAt, issuedAt: issuedAt, issuer: issuer, keyID: key.id, tokenID: tokenID(),
                keyMark: key.mark, isGuest: isGuest, name: name())
        else { throw .subject }
        return .user(identity)
    }

    /// Supabase's name of the claim, and the gateway's.
    private var isGuest: Bool { claims["is_anonymous"]?.bool == true || claims["anonymous"]?.bool == true }

    /// The name that the user wants to be called by, from Supabase's claim; `nil` for a name that cannot be shown.
    private func name() -> [UInt8]? {
        guard let metadata = claims["user_metadata"], metadata.kind == .object,
            let name = metadata["username"]?.stringBytes, Identity.isName(name)
        else { return nil }
        return name
    }

    /// The id by which this token can be revoked; `nil` when it has no valid one.
    private func tokenID() -> [UInt8]? {
        guard let id = claims["jti"]?.stringBytes, Identity.isTokenID(id) else { return nil }
        return id
    }

    private func issuer(boundTo key: TokenKey) throws(TokenFailure) -> [UInt8]? {
        var issuer: [UInt8]?
        if let claim = claims["iss"] {
            guard let text = claim.stringBytes, text.count <= TokenClaimReader.issuerBytesMax else { throw .issuer }
            issuer = text
        }
        for required in [rules.issuer, key.issuer] where required != nil && required != issuer { throw .issuer }
        return issuer
    }

    /// `aud` is a string or an array of strings (RFC 7519 section 4.1.3).
    private func checkAudience() throws(TokenFailure) {
        var named: [[UInt8]] = []
        if let claim = claims["aud"] {
            for value in claim.kind == .array ? Array(claim.members) : [claim] {
                guard let text = value.stringBytes else { throw .audience }
                named.append(text)
            }
        }
        if let audience = rules.audience, !named.contains(audience) { throw .audience }
    }

    /// A time in whole seconds only.
    ///
    /// RFC 7519 would allow fractions, but no supported issuer needs them, and readers that round may disagree with
    /// each other.
    private func time(_ name: String) throws(TokenFailure) -> Int? {
        guard let claim = claims[name] else { return nil }
        guard let seconds = claim.int, TokenClaimReader.times.contains(seconds) else { throw .time }
        return seconds
    }

    /// The role; `nil` for an anonymous one.
    ///
    /// `standIn` is the user of a token without `sub`: Supabase's service keys have none, and stand for their role.
    private func role() throws(TokenFailure) -> (role: Identity.Role, standIn: [UInt8])? {
        guard let claim = claims["role"] else { return (.user, []) }
        guard let text = claim.stringBytes else { throw .role }
        switch rules.roles[text] {
        case .user: return (.user, [])
        case .service: return (.service, text)
        case .anonymous: return nil
        case nil:
            guard let role = Identity.Role(text) else { throw .role }
            return (role, [])
        }
    }

    private func topics() throws(TokenFailure) -> [TopicPattern]? {
        guard let claim = claims["topics"] else { return nil }
        guard claim.kind == .array else { throw .topics }
        var patterns: [TopicPattern] = []
        for value in claim.members {
            guard patterns.count < Identity.topicsMax, let text = value.stringBytes, let pattern = TopicPattern(text)
            else { throw .topics }
            patterns.append(pattern)
        }
        return patterns
    }
}
