public import Core
public import Rights

/// Judges whether a caller may use a route or a command, as far as the head of a request shows.
///
/// Immutable and thread-safe. Other parts judge the rest: ``AccessPolicy`` the topic, and the command's arguments its
/// home.
public struct CallRights: Sendable {
    private let hasOpenTopics: Bool
    private let hasOpenPublishing: Bool
    /// The namespaces that callers without a token may not subscribe to.
    private let closed: Set<String>
    private let allowsAnonymous: Bool

    /// Judges by the rules of the namespaces; `allowsAnonymous`: the gateway accepts callers without a token.
    public init(_ access: AccessPolicy, allowsAnonymous: Bool) {
        hasOpenTopics = !access.openNamespaces.isEmpty
        hasOpenPublishing = !access.openForPublishing.isEmpty
        closed = access.closedNamespaces
        self.allowsAnonymous = allowsAnonymous
    }

    private static let owner = Refusal(.forbidden, "only services and the user himself may do this")

    // MARK: Routes

    /// The refusal of a caller that may not use the route; `nil` when it may, or when a later check decides.
    public func refusal(_ route: GatewayRoute, _ segments: [String], _ caller: Caller) -> Refusal? {
        if let refusal = refusal(route, caller, value: { route.path.value($0, in: segments) }) { return refusal }
        switch route.reach {
        case .nothing, .messages, .topicOfQuery, .command: return nil
        case .everything: return caller.refusal(beyondBinding: nil)
        case .topic(let argument):
            return caller.refusal(beyondBinding: route.path.value(argument, in: segments).flatMap { Topic($0) })
        }
    }

    /// The refusal of a caller outside the route's callers, or with a key that does not allow the use.
    private func refusal(
        _ route: GatewayRoute, _ caller: Caller, value: (_ argument: String) -> String?
    ) -> Refusal? {
        switch route.callers {
        case .everybody, .machine, .known: break
        case .admitted:
            if let refusal = refusalOfAnonymous(caller) { return refusal }
        case .named:
            // An app's publishable key may publish where anyone may; the topics are judged later.
            if case .publishable = caller, hasOpenPublishing, allowsAnonymous { break }
            if caller.isAnonymous { return Refusal(.unauthorized, "Unauthorized") }
        case .services(let unauthorized, let forbidden):
            guard caller.isService else {
                return caller.isAnonymous ? Refusal(.unauthorized, unauthorized) : Refusal(.forbidden, forbidden)
            }
        case .owner(let argument):
            if let refusal = refusal(of: caller, askingFor: value(argument)) { return refusal }
        }
        return route.use.flatMap { caller.refusal(of: $0) }
    }

    /// The refusal of a caller without a token on a gateway that accepts none.
    private func refusalOfAnonymous(_ caller: Caller) -> Refusal? {
        caller.isAnonymous && !allowsAnonymous ? Refusal(.unauthorized, "a token or an API key is needed") : nil
    }

    /// The refusal of a caller that is neither a service nor the user; a grant is for one topic, not for its user's
    /// data.
    private func refusal(of caller: Caller, askingFor user: String?) -> Refusal? {
        switch caller {
        case .service: return nil
        case .anonymous, .publishable: return Refusal(.unauthorized, "a token or an API key is needed")
        case .user(let identity):
            if identity.role == .service { return nil }
            let isOwn = user.map { $0.utf8.elementsEqual(identity.user) } ?? false
            return identity.grant == nil && isOwn ? nil : CallRights.owner
        }
    }

    // MARK: Commands

    /// The refusal of a caller that may not call the command; `nil` when it may, unless the home forbids it.
    public func refusal(_ command: CommandDescriptor, _ caller: Caller) -> Refusal? {
        if let refusal = command.rights.refusal(CommandRole(caller)) { return refusal }
        if let refusal = refusalOfAnonymous(caller) { return refusal }
        if caller.isAnonymous, !isOpen(command) {
            return Refusal(.unauthorized, "This command needs a token: its namespace is not open to anyone.")
        }
        if let refusal = caller.refusal(of: command.isReadOnly ? .read : .write) { return refusal }
        return command.home == nil ? caller.refusal(beyondBinding: nil) : nil
    }

    /// Whether callers without a token may call the command: every namespace that it uses is open to everybody.
    ///
    /// A command that mints tokens judges such callers itself, since it is how they get one. A namespace without a
    /// policy has no topics that could be closed.
    private func isOpen(_ command: CommandDescriptor) -> Bool {
        command.mint != nil
            || !command.keys.contains { closed.contains($0.template.namespace) }
                && !command.topics.contains { closed.contains($0.namespace) }
    }

    // MARK: Reach of a caller

    /// Whether a caller could use the route with some arguments.
    public func reaches(_ route: GatewayRoute, _ caller: Caller) -> Bool {
        if route.callers == .machine {
            return caller.isService && caller.binding == nil && caller.refusal(of: .read) == nil
        }
        // A user may ask for its own data.
        var own: String?
        if case .user(let identity) = caller { own = String(decoding: identity.user, as: UTF8.self) }
        guard refusal(route, caller, value: { _ in own }) == nil else { return false }
        switch route.reach {
        case .nothing, .command: return true
        case .everything: return caller.binding == nil
        case .topic, .topicOfQuery: return !caller.isAnonymous || hasOpenTopics
        case .messages:
            guard case .user(let identity) = caller, identity.grant != nil else { return true }
            return hasOpenPublishing
        }
    }

    /// Whether a caller could call the command with some arguments.
    public func reaches(_ command: CommandDescriptor, _ caller: Caller) -> Bool {
        guard refusal(command, caller) == nil else { return false }
        switch caller {
        case .anonymous, .publishable: return command.userArgument?.isRequired != true
        case .service: return true
        case .user(let identity):
            if let binding = caller.binding {
                return command.home.map { home in binding.contains { $0.namespace.elementsEqual(home.namespace.utf8) } }
                    ?? false
            }
            guard let grant = identity.grant else { return true }
            return command.mint == nil && command.home.map { grant.namespace.elementsEqual($0.namespace.utf8) } == true
        }
    }
}
