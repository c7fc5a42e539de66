/// Users whose tokens were withdrawn before they expired: "everything issued until then is void".
///
/// A value of one thread. Bounded: an entry is kept `keepSeconds`, which must be at least the longest life of a
/// token, and when `capacity` users are revoked at once a further one is refused rather than an older one forgotten.
public struct Revocations: Sendable {
    private var revokedAt: [[UInt8]: Int] = [:]
    private let capacity: Int
    private let keepSeconds: Int

    /// Makes an empty list.
    public init(capacity: Int, keepSeconds: Int) {
        self.capacity = capacity
        self.keepSeconds = keepSeconds
    }

    /// How many users are on the list.
    public var count: Int { revokedAt.count }

    /// Withdraws all tokens of a user issued until `time` (Unix seconds); false when the list is full.
    public mutating func revoke(_ user: [UInt8], at time: Int) -> Bool {
        if revokedAt[user] == nil && revokedAt.count >= capacity {
            revokedAt = revokedAt.filter { time - $0.value < keepSeconds }
            guard revokedAt.count < capacity else { return false }
        }
        revokedAt[user] = max(time, revokedAt[user] ?? time)
        return true
    }

    /// The failure when the identity's token was withdrawn; a token without `iat` counts as issued before.
    public func failure(for identity: Identity) -> TokenFailure? {
        guard let time = revokedAt[identity.user], (identity.issuedAt ?? 0) <= time else { return nil }
        return .revoked
    }
}
