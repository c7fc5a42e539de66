public import Core

/// What a token of the gateway's own grants: one topic and its commands, to one user, for a time.
public struct Grant: Sendable, Equatable {
    /// Who bears it.
    public let user: [UInt8]
    /// The only topic that it opens.
    public let topic: Topic
    /// When it was made, Unix seconds.
    public let issuedAt: Int
    /// When it ends, Unix seconds.
    public let expiresAt: Int
    /// What names the token when it is revoked.
    public let tokenID: [UInt8]
    /// Whether the user is nobody's account.
    public let isGuest: Bool

    /// Makes a grant; `nil` when a name is out of its grammar or a time is none.
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

    /// Reads the claims of a token whose signature is ours.
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
        var text: [UInt8] = []
        text.append(text: "{\"sub\":")
        text.append(jsonString: user)
        text.append(text: ",\"topic\":")
        text.append(jsonString: topic.bytes)
        text.append(text: ",\"iat\":\(issuedAt),\"exp\":\(expiresAt),\"jti\":")
        text.append(jsonString: tokenID)
        if isGuest { text.append(text: ",\"anonymous\":true") }
        text.append(UInt8(ascii: "}"))
        return text
    }
}
