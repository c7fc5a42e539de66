import Core
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
    /// Whether a user's token says that the user is nobody's account.
    public let isGuest: Bool
    /// How a user's token says that the user is called.
    public let name: [UInt8]?

    /// The caller of a request.
    public init(_ caller: Caller) {
        if case .user(let identity) = caller, identity.role == .user {
            name = identity.name
        } else {
            name = nil
        }
        role = CommandRole(caller)
        switch caller {
        case .anonymous, .publishable:
            (user, principal, isGuest) = (nil, [], false)
        case .user(let identity) where identity.role == .service:
            (user, principal, isGuest) = (nil, identity.user, false)
        case .user(let identity):
            (user, principal, isGuest) = (identity.user, identity.user, identity.isGuest)
        case .service(let holder):
            (user, principal, isGuest) = (nil, Array(holder.name.utf8), false)
        }
        payer = role == .anonymous ? Array(role.rawValue.utf8) : CommandCaller.payer(role, principal)
    }

    /// The payer of what concerns one user, as ``payer`` tells it for the user's own commands.
    public static func payer(ofUser user: [UInt8]) -> [UInt8] { payer(.user, user) }

    private static func payer(_ role: CommandRole, _ name: [UInt8]) -> [UInt8] {
        Array(role.rawValue.utf8) + [UInt8(ascii: ":")] + name.prefix(payerBytesMax)
    }

    private static let payerBytesMax = 190

    /// What scripts are told of the role: `guest` is a user who is nobody's account.
    ///
    /// The user's name stands behind it.
    var roleText: [UInt8] {
        Array((isGuest ? "guest" : role.rawValue).utf8) + (name.map { [UInt8(ascii: " ")] + $0 } ?? [])
    }

    /// Names the payer: who answers for what a command leaves in the outbox, at most 200 bytes.
    ///
    /// A user or a service by its role and name, all anonymous callers as one; for the worker, whoever it works for.
    public let payer: [UInt8]

    private init(role: CommandRole, payer: [UInt8]) {
        (self.role, user, principal, isGuest, name) = (role, nil, [], false, nil)
        self.payer = payer
    }

    /// Who has shown nothing.
    public static let nobody = CommandCaller(role: .anonymous, payer: Array(CommandRole.anonymous.rawValue.utf8))

    /// The worker, for nobody in particular.
    public static let worker = CommandCaller(role: .worker, payer: [])

    /// The worker, for a payer: what its call leaves in the outbox is the payer's as well.
    public static func worker(for payer: [UInt8]) -> CommandCaller { CommandCaller(role: .worker, payer: payer) }
}
