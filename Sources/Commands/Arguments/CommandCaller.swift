import Core
public import Rights

/// The caller of a command, as far as scripts may know it.
public struct CommandCaller: Equatable, Sendable {
    /// The role.
    public let role: CommandRole
    /// The user of a user's token; `nil` for all others.
    public let user: [UInt8]?
    /// Distinguishes callers of one role, so that an operation's id belongs to one of them.
    ///
    /// It is the user, the name of the API key, or the subject of a service's token. It is empty for anonymous clients
    /// and the worker.
    public let principal: [UInt8]
    /// Whether the token says that the user is a guest, without an account.
    public let isGuest: Bool
    /// The user's display name in the token; `nil` when there is none.
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

    /// The payer of work that concerns one user: the same ``payer`` as for the user's own commands.
    public static func payer(ofUser user: [UInt8]) -> [UInt8] { payer(.user, user) }

    private static func payer(_ role: CommandRole, _ name: [UInt8]) -> [UInt8] {
        Array(role.rawValue.utf8) + [UInt8(ascii: ":")] + name.prefix(payerBytesMax)
    }

    private static let payerBytesMax = 190

    /// The role as scripts receive it, followed by a space and the user's name when there is one.
    ///
    /// A user without an account has the role `guest`.
    var roleText: [UInt8] {
        Array((isGuest ? "guest" : role.rawValue).utf8) + (name.map { [UInt8(ascii: " ")] + $0 } ?? [])
    }

    /// The payer that a command's outbox entries are charged to, at most 200 bytes.
    ///
    /// A user or a service is named by role and name. All anonymous callers are one payer. For the worker it is the
    /// payer that the worker acts for.
    public let payer: [UInt8]

    private init(role: CommandRole, payer: [UInt8]) {
        (self.role, user, principal, isGuest, name) = (role, nil, [], false, nil)
        self.payer = payer
    }

    /// A caller without any credentials.
    public static let nobody = CommandCaller(role: .anonymous, payer: Array(CommandRole.anonymous.rawValue.utf8))

    /// The worker acting for no payer.
    public static let worker = CommandCaller(role: .worker, payer: [])

    /// The worker acting for a payer: that payer is also charged for the outbox entries of its call.
    public static func worker(for payer: [UInt8]) -> CommandCaller { CommandCaller(role: .worker, payer: payer) }
}
