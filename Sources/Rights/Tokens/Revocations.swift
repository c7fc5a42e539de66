/// A withdrawal of tokens before they expire.
public struct Revocation: Sendable, Equatable {
    /// The tokens that are withdrawn.
    public enum Subject: Sendable, Hashable {
        /// All tokens of a user that were issued until then, Unix seconds; a token without `iat` counts as older.
        case user([UInt8], until: Int)
        /// The token with that `jti`.
        case token([UInt8])
    }

    /// The tokens that are withdrawn.
    public let subject: Subject
    /// The time at which it may be forgotten, Unix seconds: all its tokens have expired by then.
    public let forgetAt: Int

    /// Makes a revocation.
    public init(_ subject: Subject, forgetAt: Int) {
        self.subject = subject
        self.forgetAt = forgetAt
    }
}

/// Every revocation that a node knows.
///
/// A value. The code that adds entries bounds it: Redis keeps at most `revocationsMax`, and expired ones are forgotten
/// here as there. An entry of 20 bytes takes about 150 bytes.
public struct Revocations: Sendable {
    private struct UserEntry {
        var until: Int
        var forgetAt: Int
    }

    private var users: [[UInt8]: UserEntry] = [:]
    private var tokens: [[UInt8]: Int] = [:]
    /// Whether all revocations of the start have been read from Redis; until then a valid token may be a revoked one.
    public var isComplete = false

    /// An empty list.
    public init() {}

    /// The number of users and tokens on the list.
    public var count: Int { users.count + tokens.count }

    /// Adds a revocation; of two for one user the later time counts.
    public mutating func add(_ revocation: Revocation) {
        switch revocation.subject {
        case .user(let user, let until):
            let known = users[user]
            users[user] = UserEntry(
                until: max(until, known?.until ?? until),
                forgetAt: max(revocation.forgetAt, known?.forgetAt ?? revocation.forgetAt))
        case .token(let id):
            tokens[id] = max(revocation.forgetAt, tokens[id] ?? revocation.forgetAt)
        }
    }

    /// Forgets expired revocations.
    public mutating func forget(now: Int) {
        users = users.filter { $0.value.forgetAt > now }
        tokens = tokens.filter { $0.value > now }
    }

    /// The time up to which issued tokens of a user are withdrawn, Unix seconds; `nil` when there is none.
    public func until(of user: [UInt8]) -> Int? { users[user]?.until }

    /// The failure when the identity's token was withdrawn; a token without `iat` counts as issued before.
    public func failure(for identity: Identity) -> TokenFailure? {
        if let entry = users[identity.user], (identity.issuedAt ?? 0) <= entry.until { return .revoked }
        if let id = identity.tokenID, tokens[id] != nil { return .revoked }
        return nil
    }
}
