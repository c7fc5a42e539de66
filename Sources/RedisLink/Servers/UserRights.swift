/// Whether the Redis user of a process may do what a gateway does.
public enum UserRights: Equatable, Sendable {
    /// The server is older than 7.0, and cannot be asked.
    case unasked
    /// The user has every right.
    case sufficient
    /// The rules of `ACL SETUSER` that are missing, such as `+zadd`, `~shop:*` or `&shop:*`.
    case missing([String])
    /// Our own user may not ask, or no answer arrived.
    case unknown(RedisFailure)
}
