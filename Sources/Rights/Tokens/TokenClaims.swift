import Core

/// The claims of a token to sign; claims that ``TokenVerifier`` would refuse cannot be made.
public struct TokenClaims: Sendable, Equatable {
    /// User, role, topics, and the times `iat` and `exp`; its `keyID` is not written.
    public let identity: Identity
    /// Claim `aud`; `nil`: none.
    public let audience: [UInt8]?

    /// Makes claims.
    ///
    /// Throws when a text is too long or not UTF-8, or a time is out of 1970...9999.
    public init(_ identity: Identity, audience: [UInt8]? = nil) throws(RightsProblem) {
        for text in [identity.issuer, audience, identity.tokenID].compactMap(\.self) {
            guard text.count <= TokenClaimReader.issuerBytesMax, UTF8Text.isValid(text) else {
                throw .claims("iss, aud and jti must be UTF-8 of at most \(TokenClaimReader.issuerBytesMax) bytes")
            }
        }
        for time in [identity.expiresAt, identity.issuedAt ?? 0] {
            guard TokenClaimReader.times.contains(time) else { throw .claims("a time is out of 1970...9999") }
        }
        self.identity = identity
        self.audience = audience
    }

    /// The claims as a JSON object.
    var json: [UInt8] {
        var text = [UInt8(ascii: "{")]
        text.append(member: "sub", string: identity.user)
        text.append(member: "role", string: identity.role.rawValue)
        if identity.namesTopics {
            text.append(member: "topics")
            text.append(arrayOf: identity.topics) { $0.append(jsonString: $1.text) }
        }
        text.append(member: "exp", number: identity.expiresAt)
        if let issuedAt = identity.issuedAt { text.append(member: "iat", number: issuedAt) }
        if let tokenID = identity.tokenID { text.append(member: "jti", string: tokenID) }
        if let issuer = identity.issuer { text.append(member: "iss", string: issuer) }
        if let audience { text.append(member: "aud", string: audience) }
        if identity.isGuest { text.append(text: ",\"is_anonymous\":true") }
        if let name = identity.name {
            text.append(text: ",\"user_metadata\":{")
            text.append(member: "username", string: name)
            text.append(UInt8(ascii: "}"))
        }
        text.append(UInt8(ascii: "}"))
        return text
    }
}
