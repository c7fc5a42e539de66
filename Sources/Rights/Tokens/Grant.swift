public import Core

/// The content of a token of the gateway's own: one topic and its commands, for one user, for a time.
public struct Grant: Sendable, Equatable {
    /// The bearer.
    public let user: [UInt8]
    /// The only topic that it grants.
    public let topic: Topic
    /// The time of its creation, Unix seconds.
    public let issuedAt: Int
    /// The time of its end, Unix seconds.
    public let expiresAt: Int
    /// The id by which the token can be revoked.
    public let tokenID: [UInt8]
    /// Whether the user has no account.
    public let isGuest: Bool

    /// Makes a grant; `nil` when a name is out of its grammar or a time out of its range.
    public init?(user: [UInt8], topic: Topic, issuedAt: Int, expiresAt: Int, tokenID: [UInt8], isGuest: Bool) {
        guard Identity.isUser(user), Identity.isTokenID(tokenID), TokenClaimReader.times.contains(issuedAt),
            TokenClaimReader.times.contains(expiresAt)
        else { return nil }
        self.user = user
        self.topic = topic
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.tokenID = tokenID
        self.isGuest = isGuest
    }

    /// Reads the claims of a token that the gateway signed.
    init?(_ claims: JSON.Value) {
        guard let user = claims["sub"]?.stringBytes, let topic = claims["topic"]?.stringBytes.flatMap({ Topic($0) }),
            let issuedAt = claims["iat"]?.int, let expiresAt = claims["exp"]?.int,
            let tokenID = claims["jti"]?.stringBytes
        else { return nil }
        self.init(
            user: user, topic: topic, issuedAt: issuedAt, expiresAt: expiresAt, tokenID: tokenID,
            isGuest: claims["anonymous"]?.bool == true)
    }

    /// The claims as a JSON object.
    var json: [UInt8] {
        var text = [UInt8(ascii: "{")]
        text.append(member: "sub", string: user)
        text.append(member: "topic", string: topic.bytes)
        text.append(member: "iat", number: issuedAt)
        text.append(member: "exp", number: expiresAt)
        text.append(member: "jti", string: tokenID)
        if isGuest { text.append(text: ",\"anonymous\":true") }
        text.append(UInt8(ascii: "}"))
        return text
    }
}
