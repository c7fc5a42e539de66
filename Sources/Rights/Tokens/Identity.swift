public import Core

/// The identity and the rights in a verified token.
public struct Identity: Sendable, Equatable {
    /// The kind of client.
    public enum Role: String, CaseIterable, Sendable {
        /// A person's app.
        case user
        /// A backend; may do everything.
        case service

        init?(_ bytes: [UInt8]) {
            guard let match = Role.allCases.first(where: { bytes.elementsEqual($0.rawValue.utf8) }) else { return nil }
            self = match
        }
    }

    /// Claim `sub`: 1...128 bytes of the topic id grammar, so that `user:<sub>` is a topic.
    public let user: [UInt8]
    /// Claim `role`; a token without it is a user's.
    public let role: Role
    /// Claim `topics`: the topics of rule `granted` that this user may use without a membership set.
    ///
    /// At most 256.
    public let topics: [TopicPattern]
    /// Whether the token has the claim `topics`, though it may be empty.
    ///
    /// A service whose token has the claim is bound to these topics, and an empty list grants none.
    public let namesTopics: Bool
    /// Claim `exp`, Unix seconds.
    ///
    /// The session ends then, plus the configured leeway.
    public let expiresAt: Int
    /// Claim `iat`, Unix seconds, with which revocations are compared.
    public let issuedAt: Int?
    /// Claim `iss`.
    public let issuer: [UInt8]?
    /// The id of the key that verified the signature, if that key has one.
    public let keyID: [UInt8]?
    /// Claim `jti`, by which this one token can be revoked; 1...256 visible ASCII bytes, or `nil` for any other.
    public let tokenID: [UInt8]?
    /// The mark of the key that verified the signature, also when that key has no id; 0 without one.
    public let keyMark: UInt64

    /// Claim `is_anonymous` or `anonymous`: the user has no account, such as a guest of a listening session.
    public let isGuest: Bool
    /// Claim `user_metadata.username`: the name that the user wants to be called by.
    ///
    /// 1...64 characters without control characters, or `nil`. It proves nothing: users may choose it.
    public let name: [UInt8]?
    /// The one topic of a token that a script had the gateway sign; `nil` for every other token.
    ///
    /// Its bearer may subscribe to the topic and call its commands, and nothing else that needs a token.
    public let grant: Topic?

    /// The most bytes of ``tokenID``.
    public static let tokenIDBytesMax = 256
    /// The most bytes of ``user``.
    public static let userBytesMax = 128
    /// The most bytes of ``name``: 64 characters of four bytes.
    public static let nameBytesMax = 256
    /// The most entries of ``topics``.
    public static let topicsMax = 256

    /// Makes an identity; `nil` when the user is out of its grammar or there are too many topics.
    ///
    /// Pass `nil` for a token without the claim `topics`.
    public init?(
        user: [UInt8], role: Role, topics: [TopicPattern]?, expiresAt: Int, issuedAt: Int? = nil,
        issuer: [UInt8]? = nil, keyID: [UInt8]? = nil, tokenID: [UInt8]? = nil, keyMark: UInt64 = 0,
        isGuest: Bool = false, name: [UInt8]? = nil
    ) {
        guard Identity.isUser(user), topics.map({ $0.count <= Identity.topicsMax }) ?? true else { return nil }
        self.user = user
        self.role = role
        self.topics = topics ?? []
        namesTopics = topics != nil
        self.expiresAt = expiresAt
        self.issuedAt = issuedAt
        self.issuer = issuer
        self.keyID = keyID
        self.tokenID = tokenID
        self.keyMark = keyMark
        self.isGuest = isGuest
        self.name = name
        grant = nil
    }

    /// The bearer of a token of the gateway's own.
    init?(_ grant: Grant, keyMark: UInt64) {
        guard let pattern = TopicPattern(grant.topic.bytes) else { return nil }
        (user, role, topics, issuer, keyID) = (grant.user, .user, [pattern], nil, nil)
        namesTopics = true
        (expiresAt, issuedAt, tokenID) = (grant.expiresAt, grant.issuedAt, grant.tokenID)
        (self.keyMark, isGuest, name, self.grant) = (keyMark, grant.isGuest, nil, grant.topic)
    }

    /// Whether the bytes may be a user: 1...128 of `[A-Za-z0-9._~:-]`.
    public static func isUser(_ bytes: [UInt8]) -> Bool {
        bytes.count <= userBytesMax && Topic.isID(bytes)
    }

    /// Whether the bytes may name a token: 1...256 visible ASCII bytes.
    public static func isTokenID(_ bytes: [UInt8]) -> Bool {
        (1...tokenIDBytesMax).contains(bytes.count) && bytes.allSatisfy { $0 > 0x20 && $0 < 0x7f }
    }

    /// Whether the bytes may be a ``name``: 1...64 characters of UTF-8, none of them a control character.
    public static func isName(_ bytes: [UInt8]) -> Bool {
        guard (1...nameBytesMax).contains(bytes.count), UTF8Text.isValid(bytes) else { return false }
        var characters = 0
        for byte in bytes {
            if byte < 0x20 || byte == 0x7f { return false }
            if byte & 0xc0 != 0x80 { characters += 1 }
        }
        return characters <= 64
    }

    /// Whether the token names the topic.
    ///
    /// *Complexity*: linear in ``topics``.
    public func grants(_ topic: Topic) -> Bool {
        topics.contains { $0.matches(topic) }
    }

    /// Whether heartbeats run while the user has a connection.
    ///
    /// A token for one topic does not mean that its user is online, unless the user is a guest without another token.
    public var hasHeartbeat: Bool { role == .user && (grant == nil || isGuest) }

    /// Whether a session of `current` may continue with this token.
    ///
    /// A refresh never changes user, role or issuer, nor the topic of a token of the gateway's own. Topics may differ;
    /// the caller must withdraw those that the new token no longer grants.
    public func mayRefresh(_ current: Identity) -> Bool {
        user == current.user && role == current.role && issuer == current.issuer && grant == current.grant
    }
}
