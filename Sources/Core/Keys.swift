/// The only maker of Redis names (design section 6): the topic, `#`, the facet.
///
/// `#` cannot occur in a topic, so no topic, id or message id chosen by a client can name another's key.
public struct Keys: Sendable {
    /// Put before every key and channel; empty by default, `[A-Za-z0-9._:-]{0,64}`.
    public let prefix: [UInt8]

    /// Makes names with a prefix (`--redis-prefix`).
    public init(prefix: [UInt8]) {
        self.prefix = prefix
    }

    /// The pub/sub channel of a topic.
    public func channel(_ topic: Topic) -> [UInt8] { prefix + topic.bytes }

    /// The topic of a channel; `nil` for a channel that is not ours.
    public func topic(ofChannel channel: [UInt8]) -> Topic? {
        guard channel.starts(with: prefix) else { return nil }
        return Topic(channel.dropFirst(prefix.count))
    }

    /// The stream of recent events.
    public func log(_ topic: Topic) -> [UInt8] { facet(topic, "log") }
    /// The hash `epoch`, `offset`, `run`.
    public func meta(_ topic: Topic) -> [UInt8] { facet(topic, "meta") }
    /// The set of users who are members of a session or conversation.
    public func members(_ topic: Topic) -> [UInt8] { facet(topic, "members") }
    /// The set of topics whose events the topic's owner gets too.
    public func follows(_ topic: Topic) -> [UInt8] { facet(topic, "follows") }
    /// The hash of who is here: entries by name, and the set's version.
    public func here(_ topic: Topic) -> [UInt8] { facet(topic, "here") }
    /// The string that remembers which position an idempotency key got, and what was published with it.
    ///
    /// An id belongs to its `owner`, whose name holds no `#`.
    public func seen(_ topic: Topic, owner: [UInt8], _ id: MessageID) -> [UInt8] {
        facet(topic, "seen#") + owner + [UInt8(ascii: "#")] + id.bytes
    }
    /// The queue status of a shop; the name is fixed by the API servers that read it.
    public func queue(shop id: some Collection<UInt8>) -> [UInt8] { prefix + Array("queue:".utf8) + Array(id) }

    // MARK: Commands

    /// The stream of events and calls that the worker passes on; waking it is a message on the channel of this name.
    public var outbox: [UInt8] { prefix + Array("#outbox".utf8) }
    /// The stream of entries of the outbox that could not be passed on.
    public var outboxDead: [UInt8] { prefix + Array("#outbox-dead".utf8) }
    /// The stream of calls that wait for the couriers of a service outside.
    public func calls(of service: String) -> [UInt8] { outside("calls", service) }
    /// The stream of calls of it that were given up.
    public func callsDead(of service: String) -> [UInt8] { outside("calls-dead", service) }
    /// The string that is there while a courier of the service lives.
    public func courier(of service: String) -> [UInt8] { outside("courier", service) }

    /// The list of questions that wait for the couriers of the service.
    public func asks(of service: String) -> [UInt8] { outside("asks", service) }
    /// The hash of its answers that are kept.
    public func answers(of service: String) -> [UInt8] { outside("answers", service) }
    /// The sorted set of them by the time up to which they are good.
    public func answersDue(of service: String) -> [UInt8] { outside("answers-due", service) }

    private func outside(_ what: StaticString, _ service: String) -> [UInt8] {
        var key = prefix
        key.append(UInt8(ascii: "#"))
        key.append(text: what)
        key.append(UInt8(ascii: ":"))
        key.append(text: service)
        return key
    }

    /// The sorted set of live workers.
    public var workers: [UInt8] { prefix + Array("#workers".utf8) }
    /// The hash of what each worker holds.
    public var leases: [UInt8] { prefix + Array("#leases".utf8) }
    /// The sorted set of revoked users and tokens, by the place of the change.
    public var revoked: [UInt8] { prefix + Array("#revoked".utf8) }
    /// The hash of the times up to which users' tokens are revoked.
    public var revokedBefore: [UInt8] { prefix + Array("#revoked-before".utf8) }
    /// The sorted set of members who were lately taken out of topics, by the place of the change.
    public var removed: [UInt8] { prefix + Array("#removed".utf8) }
    /// The string that holds the secret of all nodes.
    public var nodeSecret: [UInt8] { prefix + Array("#node-secret".utf8) }
    /// The channel on which other nodes speak to the node of that name.
    public func node(_ name: [UInt8]) -> [UInt8] { prefix + Array("#node:".utf8) + name }
    /// The sorted set of gateways by their last sign of life.
    public var hereNodes: [UInt8] { prefix + Array("#here-nodes".utf8) }
    /// The string that remembers the answer of an operation; `digest` is hexadecimal.
    public func done(_ home: Topic, digest: [UInt8]) -> [UInt8] { facet(home, "done#") + digest }
    /// The string that holds the fencing token of the last refresh.
    public func fence(_ home: Topic) -> [UInt8] { facet(home, "fence") }

    /// A key of a script's header: the topic alone, its facet, or a member of the facet.
    ///
    /// `facet` comes from a header and holds no `#`. A member may hold any byte: it stands last, so it can name no
    /// other member's key.
    public func domain(_ topic: Topic, facet: String?, member: [UInt8]?) -> [UInt8] {
        var key = prefix + topic.bytes
        guard let facet else { return key }
        key.append(UInt8(ascii: "#"))
        key.append(text: facet)
        guard let member else { return key }
        key.append(UInt8(ascii: "#"))
        key.append(contentsOf: member)
        return key
    }

    private func facet(_ topic: Topic, _ name: StaticString) -> [UInt8] {
        var key: [UInt8] = []
        key.reserveCapacity(prefix.count + topic.bytes.count + 1 + name.utf8CodeUnitCount)
        key.append(contentsOf: prefix)
        key.append(contentsOf: topic.bytes)
        key.append(UInt8(ascii: "#"))
        key.append(text: name)
        return key
    }
}
