public import Rights

/// Who calls a command, as far as scripts may know.
public struct CommandCaller: Equatable, Sendable {
    /// The role.
    public let role: CommandRole
    /// The user of a user's token; `nil` for all others.
    public let user: [UInt8]?
    /// Tells callers of one role apart, so that an operation's id belongs to one of them: the user, the name of the
    /// API key, the subject of a service's token; empty for anonymous clients and the worker.
    public let principal: [UInt8]

    /// The caller of a request.
    public init(_ caller: Caller) {
        switch caller {
        case .anonymous, .publishable:
            (role, user, principal) = (.anonymous, nil, [])
        case .user(let identity) where identity.role == .service:
            (role, user, principal) = (.service, nil, identity.user)
        case .user(let identity):
            (role, user, principal) = (.user, identity.user, identity.user)
        case .service(let holder):
            (role, user, principal) = (.service, nil, Array(holder.name.utf8))
        }
    }

    private init(role: CommandRole) {
        (self.role, user, principal) = (role, nil, [])
    }

    /// The worker.
    public static let worker = CommandCaller(role: .worker)
}
