public import Core
public import Rights

/// Changes the rights that are kept in Redis.
///
/// Thread: the shard's.
public protocol MembershipWriter {
    /// Adds a user to a topic's members or removes them.
    func setMember(
        _ topic: Topic, user: [UInt8], isMember: Bool, _ completion: @escaping (Result<MemberChange, Refusal>) -> Void)

    /// Revokes tokens; for a user, returns the effective time, which never decreases.
    func revoke(_ subject: Revocation.Subject, _ completion: @escaping (Result<Revocation.Subject, Refusal>) -> Void)
}

/// Result of a change of members.
public enum MemberChange: Sendable {
    case changed
    case unchanged
    /// The topic has the maximum of members.
    case full
}
