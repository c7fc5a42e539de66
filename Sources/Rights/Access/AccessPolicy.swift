public import Core

/// The rules for subscribing to a topic and publishing on it.
///
/// Immutable and thread-safe.
///
/// Deny by default: a namespace without a policy is `not_found` to everyone, services included. Services may do all
/// else, unless their token is bound to topics: then nothing beyond these is allowed, even where anyone is. The right
/// to subscribe is also the right to read a topic's history; the right to publish is separate.
public struct AccessPolicy: Sendable {
    /// The result of a check.
    public enum Decision: Sendable, Equatable {
        /// The request is allowed.
        case allow
        /// The request is refused with this error for the client.
        case refuse(Refusal)
        /// Ask Redis whether the user is in the set `<topic>#members`, then ``membership(_:)``.
        case askMembership

        /// The decision after ``askMembership`` was answered.
        public static func membership(_ isMember: Bool) -> Decision {
            isMember ? .allow : .refuse(AccessPolicy.notGranted)
        }
    }

    /// The policies by namespace; slices as keys, so that a topic's namespace is looked up without a copy.
    private let policies: [ArraySlice<UInt8>: NamespacePolicy]

    private static let anonymous = Refusal(.unauthorized, "This topic needs a token.")
    private static let notOwner = Refusal(.forbidden, "Only the user whose id the topic bears may do this.")
    private static let notGranted = Refusal(
        .forbidden, "The token's topics do not name this topic, and its user is not one of its members.")
    private static let serviceOnly = Refusal(.forbidden, "Only services may do this.")
    private static let otherGrant = Refusal(.forbidden, "This token is for another topic.")
    private static let noPublisher = Refusal(.forbidden, "This token is for commands; it publishes nothing.")
    private static let unknown = Refusal(.notFound, "No such namespace.")

    /// Takes the namespaces of the configuration; throws on a name that no topic could have.
    public init(_ policies: [String: NamespacePolicy]) throws(RightsProblem) {
        var byName: [ArraySlice<UInt8>: NamespacePolicy] = [:]
        for (name, policy) in policies {
            let bytes = Array(name.utf8)
            guard Topic.isNamespace(bytes) else { throw .namespace(name) }
            byName[bytes[...]] = policy
        }
        self.policies = byName
    }

    /// The policy of a topic's namespace; `nil`: the namespace does not exist.
    public func policy(of topic: Topic) -> NamespacePolicy? {
        policies[topic.namespace]
    }

    /// The configured namespaces, in order.
    public var namespaces: [String] { policies.keys.map { String(decoding: $0, as: UTF8.self) }.sorted() }

    /// The namespaces that callers without a token may subscribe to, in order.
    public var openNamespaces: [String] { names(open: \.subscribe) }

    /// The namespaces that callers without a token may publish on, in order.
    public var openForPublishing: [String] { names(open: \.publish) }

    private func names(open rule: (NamespacePolicy) -> NamespacePolicy.Rule) -> [String] {
        policies.filter { rule($0.value) == .anyone }.map { String(decoding: $0.key, as: UTF8.self) }.sorted()
    }

    /// The configured namespaces that callers without a token may not subscribe to.
    public var closedNamespaces: Set<String> {
        Set(policies.filter { $0.value.subscribe != .anyone }.map { String(decoding: $0.key, as: UTF8.self) })
    }

    /// Whether the caller may subscribe to the topic and read its history.
    public func subscribe(_ topic: Topic, _ caller: Caller) -> Decision {
        guard let policy = policy(of: topic) else { return .refuse(AccessPolicy.unknown) }
        if let refusal = caller.refusal(of: .read) ?? caller.refusal(beyondBinding: topic) { return .refuse(refusal) }
        return AccessPolicy.decide(policy.subscribe, topic, caller)
    }

    /// Whether the caller may publish on the topic.
    public func publish(_ topic: Topic, _ caller: Caller) -> Decision {
        guard let policy = policy(of: topic) else { return .refuse(AccessPolicy.unknown) }
        if let refusal = caller.refusal(of: .write) ?? caller.refusal(beyondBinding: topic) { return .refuse(refusal) }
        if case .user(let identity) = caller, identity.grant != nil, policy.publish != .anyone {
            return .refuse(AccessPolicy.noPublisher)
        }
        return AccessPolicy.decide(policy.publish, topic, caller)
    }

    private static func decide(_ rule: NamespacePolicy.Rule, _ topic: Topic, _ caller: Caller) -> Decision {
        if rule == .anyone || caller.isService { return .allow }
        guard case .user(let identity) = caller else { return .refuse(anonymous) }
        if let grant = identity.grant, grant != topic { return .refuse(otherGrant) }
        switch rule {
        case .anyone, .user:
            return .allow
        case .owner:
            return topic.id.elementsEqual(identity.user) ? .allow : .refuse(notOwner)
        case .granted:
            return identity.grants(topic) ? .allow : .askMembership
        case .service:
            return .refuse(serviceOnly)
        }
    }
}
