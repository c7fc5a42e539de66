public import Core
public import Rights

/// A script's words about the token to sign: `subject flag iat exp id`.
///
/// The script chooses only whether the subject is its caller or a new guest.
public struct MintedGrant: Equatable, Sendable {
    /// The bearer of the token.
    public let subject: [UInt8]
    /// Whether the subject is a guest, without an account.
    public let isGuest: Bool
    /// The time of issue, Unix seconds.
    public let issuedAt: Int
    /// The time of expiry, Unix seconds.
    public let expiresAt: Int
    /// The id by which the token can be revoked.
    public let tokenID: [UInt8]

    /// Reads the words; `nil` for any other text.
    init?(_ text: [UInt8]) {
        let words = text.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false).map { Array($0) }
        guard words.count == 5, Identity.isUser(words[0]), let issuedAt = ASCII.decimal(words[2]),
            let expiresAt = ASCII.decimal(words[3]), Identity.isTokenID(words[4])
        else { return nil }
        (subject, isGuest) = (words[0], words[1] == [UInt8(ascii: "1")])
        (self.issuedAt, self.expiresAt, tokenID) = (issuedAt, expiresAt, words[4])
    }

    /// The grant for a topic that the gateway itself has made of the call's arguments.
    public func grant(_ topic: Topic) -> Grant? {
        Grant(
            user: subject, topic: topic, issuedAt: issuedAt, expiresAt: expiresAt, tokenID: tokenID, isGuest: isGuest)
    }
}
