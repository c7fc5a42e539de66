/// A fault that every node has alike, so it takes none of them out of a balancer; `/readyz` shows it beside 200.
struct Warning: Equatable, Sendable {
    /// The name in `/readyz`.
    enum Name: String, CaseIterable, Sendable {
        /// A master could not load its own file, or does not say whether it could.
        case redisDefaultUser = "redis_default_user"
        /// The oldest entry of the outbox is too old.
        case outbox
    }

    let name: Name
    /// When this node first saw it, milliseconds since 1970.
    let sinceMs: Int
    /// The operator's mend.
    let mend: String
}
