public import Core

/// The caller on whose behalf a request is made.
///
/// One word, since every connection and each of its sessions has a copy: they share one identity.
public enum Caller: Sendable, Equatable {
    /// A caller without credentials.
    case anonymous
    /// The holder of a publishable key: has the rights of an anonymous caller, and a budget of the key's own.
    case publishable(APIKeyHolder)
    /// The holder of a token.
    indirect case user(Identity)
    /// A backend with an API key of that name.
    case service(APIKeyHolder)

    /// Whether the caller is a backend: an API key, or a token of role `service`.
    ///
    /// Its key may be narrowed, see ``refusal(of:)``, and its token bound to topics, see ``binding``.
    ///
    /// Limits that protect users, such as rates of messages and joins, do not apply to services.
    public var isService: Bool {
        switch self {
        case .anonymous, .publishable: false
        case .user(let identity): identity.role == .service
        case .service: true
        }
    }

    /// Whether the caller is unidentified: no credentials, or a publishable key, which everybody may have.
    public var isAnonymous: Bool {
        switch self {
        case .anonymous, .publishable: true
        case .user, .service: false
        }
    }

    /// The refusal of a caller whose API key was narrowed to other uses; `nil` for all other callers.
    ///
    /// Only an API key with that word may tap, no token.
    public func refusal(of use: CallerUse) -> Refusal? {
        guard case .service(let holder) = self else {
            return use == .tap ? Refusal(.forbidden, "only an API key with the right tap may tap") : nil
        }
        return holder.rights.allow(use) ? nil : Refusal(.forbidden, "this API key may not \(use.rawValue)")
    }

    /// The topics that a service's token is bound to; `nil` for every caller without such a binding.
    ///
    /// The binding is checked once, when a read, a publish or a command arrives. A command is checked by its primary
    /// topic.
    public var binding: [TopicPattern]? {
        guard case .user(let identity) = self, identity.role == .service, identity.namesTopics else { return nil }
        return identity.topics
    }

    /// The refusal of a caller whose binding does not include the topic; `nil` when it does, or without a binding.
    ///
    /// Pass `nil` for a request that belongs to no topic.
    public func refusal(beyondBinding topic: Topic?) -> Refusal? {
        guard let binding else { return nil }
        if let topic, binding.contains(where: { $0.matches(topic) }) { return nil }
        return Refusal(.forbidden, "this service's token is for its topics only")
    }

    /// Whether a connection of this caller may accept a token: the first one, or a newer one of the same user.
    public func mayBecome(_ identity: Identity) -> Bool {
        guard case .user(let current) = self else { return isAnonymous }
        return identity.mayRefresh(current)
    }
}
