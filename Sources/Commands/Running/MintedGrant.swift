public import Core
public import Rights

/// What a script said of the token to sign: `subject flag iat exp id`, in which the script has chosen nothing but whether
/// the subject is its caller or a new guest.
public struct MintedGrant: Equatable, Sendable {
    /// Who bears it.
    public let subject: [UInt8]
    /// Whether the subject is nobody's account.
    public let isGuest: Bool
    /// Unix seconds.
    public let issuedAt: Int
    /// Unix seconds.
    public let expiresAt: Int
    /// What names the token when it is revoked.
    public let tokenID: [UInt8]

    /// Reads the words; `nil` for anything else.
    init?(_ text: [UInt8]) {
        let words = text.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false).map { Array($0) }
        guard words.count == 5, Identity.isUser(words[0]), let issuedAt = ASCII.decimal(words[2]),
            let expiresAt = ASCII.decimal(words[3]), Identity.isTokenID(words[4])
        else { return nil }
        (subject, isGuest) = (words[0], words[1] == [UInt8(ascii: "1")])
        (self.issuedAt, self.expiresAt, tokenID) = (issuedAt, expiresAt, words[4])
    }

    /// The grant of a topic, which the gateway has made of the call's arguments itself.
    public func grant(_ topic: Topic) -> Grant? {
        Grant(
            user: subject, topic: topic, issuedAt: issuedAt, expiresAt: expiresAt, tokenID: tokenID, isGuest: isGuest)
    }
}
