/// On whose behalf a request is made.
public enum Caller: Sendable, Equatable {
    /// Nobody known.
    case anonymous
    /// The holder of a token.
    case user(Identity)
    /// A backend with an API key of that name.
    case service(String)

    /// Whether everything is allowed: an API key, or a token of role `service`.
    public var isService: Bool {
        switch self {
        case .anonymous: false
        case .user(let identity): identity.role == .service
        case .service: true
        }
    }
}
