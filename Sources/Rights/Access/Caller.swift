/// On whose behalf a request is made.
public enum Caller: Sendable, Equatable {
    /// Nobody known.
    case anonymous
    /// The holder of a publishable key: may do what anybody may, and pays from a budget of the key's own.
    case publishable(APIKeyHolder)
    /// The holder of a token.
    case user(Identity)
    /// A backend with an API key of that name.
    case service(APIKeyHolder)

    /// Whether everything is allowed: an API key, or a token of role `service`.
    ///
    /// Limits that keep users from harm, such as rates of messages and joins, do not apply to services.
    public var isService: Bool {
        switch self {
        case .anonymous, .publishable: false
        case .user(let identity): identity.role == .service
        case .service: true
        }
    }

    /// Whether nobody in particular calls: no credentials, or a publishable key, which everybody may have.
    public var isAnonymous: Bool {
        switch self {
        case .anonymous, .publishable: true
        case .user, .service: false
        }
    }

    /// Whether a connection of this caller may take a token: the first one, or a newer one of the same user.
    public func mayBecome(_ identity: Identity) -> Bool {
        guard case .user(let current) = self else { return isAnonymous }
        return identity.mayRefresh(current)
    }
}
