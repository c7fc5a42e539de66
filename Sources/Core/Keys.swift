/// The form of ids in the names of keys and channels (`--redis-layout`).
public enum KeyLayout: String, CaseIterable, Sendable {
    /// `shop:42#log`, and `#workers` for keys of the whole installation.
    case plain
    /// `shop:{42}#log`, and `{sb}#workers`: all keys of one id are in one slot of a Redis Cluster.
    case tagged
}

/// The only maker of Redis names: the topic, `#`, the facet.
///
/// `#` cannot occur in a topic, so no topic, id or message id chosen by a client can name another's key. Neither can a
/// brace, so the id alone is the hash tag of tagged names.
public struct Keys: Sendable {
    /// The prefix of every key and channel; empty by default, `[A-Za-z0-9._:-]{0,64}`.
    public let prefix: [UInt8]
    /// Whether ids are hash tags.
    public let layout: KeyLayout

    /// Makes names with a prefix (`--redis-prefix`) in a layout (`--redis-layout`).
    public init(prefix: [UInt8], layout: KeyLayout = .plain) {
        self.prefix = prefix
        self.layout = layout
    }

    /// The pub/sub channel of a topic.
    public func channel(_ topic: Topic) -> [UInt8] { name(topic, reserving: 0) }

    /// The topic of a channel; `nil` for a channel of another owner.
    public func topic(ofChannel channel: [UInt8]) -> Topic? {
        guard channel.starts(with: prefix) else { return nil }
        return topic(named: channel.dropFirst(prefix.count))
    }

    /// The topic of a name between the prefix and the first `#` of a key; `nil` for a name of another form.
    public func topic(named name: ArraySlice<UInt8>) -> Topic? {
        guard layout == .tagged else { return Topic(name) }
        guard let colon = name.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let id = name[(colon + 1)...]
        guard id.count > 2, id.first == UInt8(ascii: "{"), id.last == UInt8(ascii: "}") else { return nil }
        return Topic(namespace: name[..<colon], id: id.dropFirst().dropLast())
    }

    /// The string that stores the layout of the data; its own name is the same in every layout.
    public var layoutMark: [UInt8] { prefix + Array("#layout".utf8) }

    /// The name of a key of the whole installation, from the part after prefix and tag, such as `#workers`.
    public func common(_ rest: some Collection<UInt8>) -> [UInt8] { common("") + Array(rest) }

    /// The part after prefix and tag in the name of a key of the whole installation; `nil` for another name.
    public func restOfCommon(_ name: [UInt8]) -> ArraySlice<UInt8>? {
        let start = common("")
        guard name.starts(with: start), name.count > start.count, name[start.count] == UInt8(ascii: "#") else {
            return nil
        }
        return name[start.count...]
    }

    /// The wildcard for any id in a glob-style pattern of names.
    public var anyID: String { layout == .tagged ? "{*}" : "*" }

    /// The stream of recent events.
    public func log(_ topic: Topic) -> [UInt8] {
        var key = name(topic, reserving: Keys.logSuffix.utf8CodeUnitCount)
        key.append(text: Keys.logSuffix)
        return key
    }
    /// The stream of events of the epoch before, kept for the rest of its log's life.
    public func pastLog(_ topic: Topic) -> [UInt8] { facet(topic, "log-past") }
    /// The hash `epoch`, `offset`, `run`.
    public func meta(_ topic: Topic) -> [UInt8] { facet(topic, "meta") }
    /// The set of users who are members of a session or conversation.
    public func members(_ topic: Topic) -> [UInt8] { facet(topic, "members") }
    /// The set of topics whose events the topic's owner receives as well.
    public func follows(_ topic: Topic) -> [UInt8] { facet(topic, "follows") }
    /// The hash of presence entries by name, with the set's version.
    public func here(_ topic: Topic) -> [UInt8] { facet(topic, "here") }
    /// The string that stores the position of an idempotency key, and the event published with it.
    ///
    /// An id belongs to its `owner`, whose name has no `#`.
    public func seen(_ topic: Topic, owner: [UInt8], _ id: MessageID) -> [UInt8] {
        facet(topic, "seen#") + owner + [UInt8(ascii: "#")] + id.bytes
    }

    // MARK: Commands

    /// The first stream of events and calls that the worker relays, for entries without an id.
    ///
    /// A message on the channel of this name wakes the worker.
    public var outbox: [UInt8] { common("#outbox") }
    /// A stream of the outbox; on tagged names in the slot that it names.
    public func outbox(_ stream: OutboxStream) -> [UInt8] { outboxBase(of: stream.slot) + stream.suffix }
    /// The names of all streams of a slot, in the order of ``OutboxStream/all(of:)``.
    public func outboxes(of slot: Int) -> [[UInt8]] {
        let base = outboxBase(of: slot)
        return OutboxStream.suffixes.map { base + $0 }
    }
    /// The stream for the outbox entries of a payer's commands.
    ///
    /// `home` is their primary topic; `nil` for none. With `isFollowUp` it is the stream for entries of the worker's
    /// calls.
    public func outbox(of home: Topic?, payer: [UInt8], isFollowUp: Bool) -> OutboxStream {
        let slot = layout == .tagged ? home.map { HashSlot.of($0.id) } ?? Keys.commonSlot : 0
        return OutboxStream(slot: slot, lane: OutboxStream.lane(of: payer), isFollowUp: isFollowUp)
    }
    /// The hash of the number of entries of each user in a lane.
    public func outboxPayers(_ stream: OutboxStream) -> [UInt8] { outbox(stream) + Array(":payers".utf8) }
    /// The number of slots that have outbox streams of their own.
    public var outboxSlots: Int { layout == .tagged ? HashSlot.count : 1 }
    /// The outbox stream of a name; `nil` for another key.
    public func outboxStream(_ name: some Collection<UInt8>) -> OutboxStream? {
        let slot = layout == .tagged ? HashSlot.of(name) : 0
        let base = outboxBase(of: slot)
        return name.starts(with: base) ? OutboxStream(slot: slot, suffix: name.dropFirst(base.count)) : nil
    }
    /// Whether a name is that of an outbox key: a stream, or the counts beside one.
    public func isOutbox(_ name: [UInt8]) -> Bool {
        let counts = Array(":payers".utf8)
        return outboxStream(name) != nil
            || name.suffix(counts.count).elementsEqual(counts) && outboxStream(name.dropLast(counts.count)) != nil
    }
    private func outboxBase(of slot: Int) -> [UInt8] {
        guard layout == .tagged, slot != Keys.commonSlot else { return outbox }
        return prefix + [UInt8(ascii: "{")] + HashSlot.tag(of: slot) + Array("}#outbox".utf8)
    }
    /// The prefix for scripts, followed by a brace where ids are hash tags.
    public var scriptPrefix: [UInt8] { layout == .tagged ? prefix + [UInt8(ascii: "{")] : prefix }
    /// The string with which the worker reports the size of the outbox to gateways.
    public var outboxFigures: [UInt8] { common("#outbox-figures") }
    /// The stream of outbox entries that could not be relayed.
    public var outboxDead: [UInt8] { common("#outbox-dead") }
    /// The stream of calls that wait for the couriers of an outside service.
    public func calls(of service: String) -> [UInt8] { outside("calls", service) }
    /// The stream of the service's calls that were given up.
    public func callsDead(of service: String) -> [UInt8] { outside("calls-dead", service) }
    /// The string that exists while a courier of the service is alive.
    public func courier(of service: String) -> [UInt8] { outside("courier", service) }

    /// The list of questions that wait for the couriers of the service.
    public func asks(of service: String) -> [UInt8] { outside("asks", service) }
    /// The hash of the service's cached answers.
    public func answers(of service: String) -> [UInt8] { outside("answers", service) }
    /// The sorted set of these answers by the end of their validity.
    public func answersDue(of service: String) -> [UInt8] { outside("answers-due", service) }

    /// The string with the time from which a receiver of webhooks gets events, milliseconds since 1970.
    public func webhook(_ receiver: String) -> [UInt8] { outside("webhook", receiver) }
    /// The stream of the receiver's events that were given up.
    public func webhookDead(_ receiver: String) -> [UInt8] { outside("webhook-dead", receiver) }

    /// The hash of the figures of receivers, which couriers write.
    public var webhookFigures: [UInt8] { common("#webhook-figures") }

    /// The string with the provider token that authenticates couriers at APNs, for one of Apple's keys.
    public func providerToken(of keyID: String) -> [UInt8] { outside("apns-token", keyID) }

    private func outside(_ what: StaticString, _ service: String) -> [UInt8] {
        var key = common("#")
        key.append(text: what)
        key.append(UInt8(ascii: ":"))
        key.append(text: service)
        return key
    }

    /// The sorted set of live workers.
    public var workers: [UInt8] { common("#workers") }
    /// The hash of the partitions that each worker holds.
    public var leases: [UInt8] { common("#leases") }
    /// The sorted set of revoked users and tokens, by the place of the change.
    public var revoked: [UInt8] { common("#revoked") }
    /// The hash of the times up to which users' tokens are revoked.
    public var revokedBefore: [UInt8] { common("#revoked-before") }
    /// The sorted set of members who were recently removed from topics, by the place of the change.
    public var removed: [UInt8] { common("#removed") }
    /// The hash that records whether positions outlive a restart of Redis (`seal.lua`); not on a Cluster.
    public var sealed: [UInt8] { common("#sealed") }
    /// The hash of live processes: gateways, workers and couriers.
    public var nodes: [UInt8] { common("#nodes") }
    /// The string that holds the secret of all nodes.
    public var nodeSecret: [UInt8] { common("#node-secret") }
    /// The string with the name of the gateway that publishes the events of emitters; also the channel of its marks.
    public var bridge: [UInt8] { common("#bridge") }
    /// The same for events of python-socketio's managers.
    public var pythonBridge: [UInt8] { common("#bridge-python") }
    /// The channel on which a gateway receives its own probes.
    public func probe(_ name: String) -> [UInt8] { common("#probe:") + Array(name.utf8) }
    /// The same for probes of the master of a slot, which also write the key of this name.
    public func probe(_ name: String, slot: Int) -> [UInt8] {
        prefix + [UInt8(ascii: "{")] + HashSlot.tag(of: slot) + Array("}#probe:\(name)".utf8)
    }
    /// The channel on which other nodes send to the node of that name.
    public func node(_ name: [UInt8]) -> [UInt8] { common("#node:") + name }
    /// The sorted set of gateways by their last heartbeat.
    public var hereNodes: [UInt8] { common("#here-nodes") }
    /// The string that stores the answer of an operation; `digest` is hexadecimal.
    public func done(_ home: Topic, digest: [UInt8]) -> [UInt8] { facet(home, "done#") + digest }
    /// The string that holds the fencing token of the last refresh.
    public func fence(_ home: Topic) -> [UInt8] { facet(home, "fence") }

    /// A key of a script's header: the topic alone, its facet, or a member of the facet.
    ///
    /// `facet` comes from a header and has no `#`. A member may contain any byte: it is last, so it can name no other
    /// member's key.
    public func domain(_ topic: Topic, facet: String?, member: [UInt8]?) -> [UInt8] {
        var key = name(topic, reserving: 0)
        guard let facet else { return key }
        key.append(UInt8(ascii: "#"))
        key.append(text: facet)
        guard let member else { return key }
        key.append(UInt8(ascii: "#"))
        key.append(contentsOf: member)
        return key
    }

    /// The slot of the outbox streams for entries without a primary topic; 0 on plain names.
    public var commonSlot: Int { layout == .tagged ? Keys.commonSlot : 0 }

    /// The slot of the keys of the whole installation.
    private static let commonSlot = HashSlot.of(Array("{sb}".utf8))

    /// A name of a key of the whole installation: on tagged names under one tag, so that scripts can use several at
    /// once.
    private func common(_ text: StaticString) -> [UInt8] {
        var key = prefix
        if layout == .tagged { key.append(text: "{sb}") }
        key.append(text: text)
        return key
    }

    private func facet(_ topic: Topic, _ text: StaticString) -> [UInt8] {
        var key = name(topic, reserving: 1 + text.utf8CodeUnitCount)
        key.append(UInt8(ascii: "#"))
        key.append(text: text)
        return key
    }

    /// The name of a topic, with which every key of it begins.
    private func name(_ topic: Topic, reserving more: Int) -> [UInt8] {
        var key: [UInt8] = []
        key.reserveCapacity(prefix.count + topic.bytes.count + 2 + more)
        appendChannel(topic, to: &key)
        return key
    }

    // MARK: In place

    /// Appends ``channel(_:)``.
    public func appendChannel(_ topic: Topic, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: prefix)
        guard layout == .tagged else { return bytes.append(contentsOf: topic.bytes) }
        bytes.append(contentsOf: topic.namespace)
        bytes.append(text: ":{")
        bytes.append(contentsOf: topic.id)
        bytes.append(UInt8(ascii: "}"))
    }

    /// Appends ``log(_:)``.
    public func appendLog(_ topic: Topic, to bytes: inout [UInt8]) {
        appendChannel(topic, to: &bytes)
        bytes.append(text: Keys.logSuffix)
    }

    private static let logSuffix: StaticString = "#log"
}
