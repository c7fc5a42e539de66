import Commands
import Configuration
import Core
import Dialects
import Operations
import Reactors
import RedisLink
import Service
import Transport
import Transports

/// The broker: owns the subscription to Redis and sends each channel message to the shards that have members for it.
///
/// It also proves that delivery works: probes that the shards publish through Redis must return.
/// Thread: its own.
final class BusRouter: SubscriberLinkOwner, ClusterHubOwner {
    private struct Interest {
        /// One bit a shard.
        var shards: UInt64
        var isLive: Bool
    }

    private let node: Node
    private let reactor: Reactor
    private let context: ConnectionContext
    private let mailbox: Mailbox<BusMessage>
    private let keys: Keys
    private let limits: Limits
    private let bounds: ChannelMessage.Bounds
    /// The channel on which other nodes send messages to this one.
    private let inbox: [UInt8]
    private var link: SubscriberLink?
    private var servers: MasterFollower?
    /// On a cluster, in place of the link.
    private var cluster: ClusterHub?
    private var probes: DeliveryProbes
    /// The last report on the subscriber link, for comparison with its current state.
    private var report = LinkReport.down(nil)
    private var timer: ReactorTimer?
    private var directory: [Topic: Interest] = [:]
    /// The messages of this tick for each shard, sent together at its end.
    private var outgoing: [[ShardMessage]]
    /// Shards whose mailbox was full: they are notified of the loss as soon as there is room.
    private var overflowed: Set<Int> = []
    private var received: [BusMessage] = []
    /// The failures already logged, by part.
    private var toldReasons: [Condition.Part: NotReadyReason] = [:]
    private var hasBeenLive = false
    /// Channels of a cluster that were lost in this tick, and the last failure.
    private var lost: (channels: Int, failure: RedisFailure?) = (0, nil)

    /// Builds the broker on its thread.
    init(node: Node, reactor: Reactor, mailbox: Mailbox<BusMessage>) throws(Errno) {
        self.node = node
        self.reactor = reactor
        self.mailbox = mailbox
        keys = node.keys
        limits = node.limits
        bounds = ChannelMessage.Bounds(node.limits)
        inbox = node.keys.node(Array(node.name.utf8))
        outgoing = node.shards.map { _ in [] }
        context = ConnectionContext(reactor: reactor, limits: ConnectionLimits(node.limits, reactors: 1))
        probes = DeliveryProbes(
            shards: node.shards.count, intervalMs: node.limits.redisProbeMs, timeoutMs: node.limits.redisProbeTimeoutMs)
        if node.redis.url.isCluster {
            cluster = try ClusterHub(node: node, reactor: reactor, context: context, inbox: inbox, owner: self)
        } else {
            let servers = try MasterFollower(node: node, context: context, nowMs: { reactor.nowMs }) {
                [unowned self] map in
                for shard in outgoing.indices { outgoing[shard].append(.servers(map)) }
            }
            self.servers = servers
            link = try SubscriberLink(
                context, node.redis, servers.directory, name: "switchboard-\(node.name)-subscriber", owner: self)
            _ = link?.want(node.probeChannel)
            _ = link?.want(inbox)
        }
        timer = try ReactorTimer(reactor) { [unowned self] in probeDue() }
        timer?.set(atMs: reactor.nowMs)
        node.figures.redis.add(link?.statistics)
        node.figures.busLoop.withLock { $0 = reactor.statistics }
        reactor.onMailbox = { [unowned self] in takeMessages() }
        reactor.onTickEnd = { [unowned self] in tickEnded() }
    }

    private func takeMessages() {
        mailbox.drain(into: &received)
        for message in received {
            switch message {
            case .want(let topic, let shard): want(topic, shard)
            case .unwant(let topic, let shard): unwant(topic, shard)
            case .link(let shard, let report): shardLink(shard, report)
            case .servers(let hint): servers?.ask(hint)
            case .moved(let shard, let generation): servers?.moved(shard: shard, generation: generation)
            case .probeRefused(let shard, let number, let failure): probeRefused(shard, number, failure)
            case .master(let shard, let master, let report): cluster?.shardLink(shard, master, report)
            case .masterProbeRefused(let shard, let master, let number, let failure):
                cluster?.refused(shard, master, number, failure)
            case .mapIsStale(let address): cluster?.mapIsStale(address)
            case .stop: reactor.stop()
            }
        }
        received.removeAll(keepingCapacity: true)
        link?.flush()
        cluster?.flush()
    }

    private func want(_ topic: Topic, _ shard: Int) {
        let bit = UInt64(1) << UInt64(shard)
        if directory[topic] == nil {
            let channel = keys.channel(topic)
            let isLive = link?.want(channel) ?? cluster?.want(channel) ?? false
            directory[topic] = Interest(shards: bit, isLive: isLive)
        } else {
            directory[topic]?.shards |= bit
        }
        if directory[topic]?.isLive == true { outgoing[shard].append(.confirmed(topic)) }
    }

    private func unwant(_ topic: Topic, _ shard: Int) {
        guard var interest = directory[topic] else { return }
        interest.shards &= ~(UInt64(1) << UInt64(shard))
        if interest.shards == 0 {
            directory[topic] = nil
            link?.unwant(keys.channel(topic))
            cluster?.unwant(keys.channel(topic))
        } else {
            directory[topic] = interest
        }
    }

    private func tickEnded() {
        if let failure = lost.failure {
            node.log.write(
                .warn, "redis subscriptions lost",
                [
                    ("channels", "\(lost.channels)"), ("reason", failure.metricLabel), ("detail", failure.detail),
                ])
            lost = (0, nil)
        }
        for shard in outgoing.indices {
            if overflowed.contains(shard) {
                // One batch, so that a shard with more topics than places in its mailbox is notified of all of them.
                outgoing[shard].removeAll(keepingCapacity: true)
                outgoing[shard].append(.lost)
                if let map = servers?.map { outgoing[shard].append(.servers(map)) }
                confirmAll(shard)
                undelivered(shard)
            }
            guard !outgoing[shard].isEmpty else { continue }
            if node.shards[shard].send(contentsOf: outgoing[shard]) {
                overflowed.remove(shard)
            } else {
                if overflowed.insert(shard).inserted { node.figures.bus.mailboxOverflows.add(1) }
                timer?.set(atMs: reactor.nowMs + 10)
                undelivered(shard)
            }
            outgoing[shard].removeAll(keepingCapacity: true)
        }
    }

    private func undelivered(_ shard: Int) {
        probes.undelivered(shard: shard, nowMs: reactor.nowMs)
        cluster?.undelivered(shard: shard)
    }

    /// Notifies a shard that lost messages which channels are live, so that it repairs them.
    private func confirmAll(_ shard: Int) {
        let bit = UInt64(1) << UInt64(shard)
        for (topic, interest) in directory where interest.isLive && interest.shards & bit != 0 {
            outgoing[shard].append(.confirmed(topic))
        }
    }

    // MARK: SubscriberLinkOwner

    func channelLive(_ channel: [UInt8]) {
        if channel == node.probeChannel { return subscriptionLive() }
        guard let topic = keys.topic(ofChannel: channel), let interest = directory[topic] else { return }
        directory[topic]?.isLive = true
        forEachShard(interest.shards) { outgoing[$0].append(.confirmed(topic)) }
    }

    func channelMessage(_ channel: [UInt8], _ payload: [UInt8]) {
        if channel == node.probeChannel { return probeReturned(payload) }
        if channel == inbox { return relay(payload) }
        guard let topic = keys.topic(ofChannel: channel), let interest = directory[topic] else { return }
        node.figures.bus.channelMessages.add(1)
        if PresenceUpdate.isMeant(payload) { return presenceUpdate(topic, payload, interest.shards) }
        guard let message = ChannelMessage.parse(payload, bounds) else {
            node.figures.bus.channelMessagesRefused.add(1)
            return
        }
        forEachShard(interest.shards) { outgoing[$0].append(.event(topic, message)) }
    }

    /// Passes another node's message to a shard; the sender is not verified yet.
    private func relay(_ message: [UInt8]) {
        if message.first == UInt8(ascii: "!") { return answer(message) }
        // An answer may contain a state of the maximum size; around it are at most a megabyte.
        guard message.count <= limits.answerBytesMax + 2 * EnginePayload.bytesMax,
            let shard = RelayEnvelope(message)?.shard, outgoing.indices.contains(shard)
        else { return node.figures.bus.relaysRefused.add(1) }
        outgoing[shard].append(.polling(.relay(message)))
    }

    /// Passes a courier's answer to a shard: `!SHARD.RANDOM WORD`, a line end, and the content.
    private func answer(_ message: [UInt8]) {
        let digits = message.dropFirst().prefix { ASCII.isDigit($0) }
        guard digits.count <= 4, let shard = ASCII.decimal(digits), outgoing.indices.contains(shard) else {
            return node.figures.bus.relaysRefused.add(1)
        }
        // A larger answer cannot be parsed, and the waiting callers are notified now.
        let head = message.prefix(256).prefix { $0 != UInt8(ascii: "\n") }
        outgoing[shard].append(.asked(message.count <= limits.askAnswerBytesMax + 256 ? message : Array(head)))
    }

    private func presenceUpdate(_ topic: Topic, _ payload: [UInt8], _ shards: UInt64) {
        guard let news = PresenceUpdate.parse(payload, bytesMax: limits.answerBytesMax, json: limits.answers) else {
            node.figures.bus.channelMessagesRefused.add(1)
            return
        }
        forEachShard(shards) { outgoing[$0].append(.presence(topic, news)) }
    }

    func channelsLost(_ failure: RedisFailure) {
        node.log.write(.warn, "redis subscription lost", [("reason", failure.metricLabel), ("detail", failure.detail)])
        for topic in directory.keys { directory[topic]?.isLive = false }
        for shard in outgoing.indices { outgoing[shard].append(.lost) }
        watchLink()
        tellHealth()
    }

    func channelsLost(_ channels: [[UInt8]], _ failure: RedisFailure) {
        lost = (lost.channels + channels.count, failure)
        for channel in channels {
            guard let topic = keys.topic(ofChannel: channel), let interest = directory[topic], interest.isLive else {
                continue
            }
            directory[topic]?.isLive = false
            forEachShard(interest.shards) { outgoing[$0].append(.topicLost(topic)) }
        }
    }

    func send(_ message: ShardMessage, to shard: Int) {
        guard outgoing.indices.contains(shard) else { return }
        outgoing[shard].append(message)
    }

    func healthChanged() { tellHealth() }

    private func forEachShard(_ shards: UInt64, _ body: (Int) -> Void) {
        var rest = shards
        while rest != 0 {
            body(rest.trailingZeroBitCount)
            rest &= rest - 1
        }
    }

    // MARK: Delivery probes

    private func probeDue() {
        timer?.set(atMs: reactor.nowMs + min(limits.redisProbeMs, limits.redisProbeTimeoutMs, BusRouter.probeTickMs))
        if let cluster { return cluster.due() }
        servers?.look()
        watchLink()
        takeProbeSteps()
    }

    /// Notices changes of the subscriber link, failed dials included.
    private func watchLink() {
        let now = link?.facts.map { LinkReport.up(runID: $0.runID) } ?? .down(link?.lastFailure)
        guard now != report else { return }
        report = now
        probes.subscriber(now, nowMs: reactor.nowMs)
    }

    private func shardLink(_ shard: Int, _ report: LinkReport) {
        watchLink()
        probes.shard(shard, report, nowMs: reactor.nowMs)
        takeProbeSteps()
    }

    private func subscriptionLive() {
        watchLink()
        probes.subscriberLive()
        if hasBeenLive { node.figures.bus.resubscribes.add(1) }
        hasBeenLive = true
        takeProbeSteps()
    }

    private func takeProbeSteps() {
        for step in probes.due(nowMs: reactor.nowMs, resumedMs: reactor.stalledMs) {
            switch step {
            case .send(let number, let shards): for shard in shards { outgoing[shard].append(.probe(number)) }
            case .reconnect(let parts, let reason): reconnect(parts, reason)
            }
        }
        tellHealth()
    }

    private func reconnect(_ parts: [Condition.Part], _ reason: NotReadyReason) {
        // Reported before the links go down, so that the log has the cause first.
        tellHealth()
        node.figures.bus.count(reason, parts)
        for part in parts {
            switch part {
            case .subscriber: link?.reconnect(RedisFailure(reason))
            case .shard(let shard): outgoing[shard].append(.reconnect(reason))
            case .node, .master: break
            }
        }
    }

    private func probeReturned(_ payload: [UInt8]) {
        let words = payload.split(separator: UInt8(ascii: " "))
        guard words.count == 2, let shard = ASCII.decimal(words[0]), let number = ASCII.decimal(words[1]),
            probes.returned(number, shard: shard, nowMs: reactor.nowMs)
        else { return }
        tellHealth()
    }

    private func probeRefused(_ shard: Int, _ number: Int, _ failure: RedisFailure) {
        probes.refused(number, shard: shard, failure, nowMs: reactor.nowMs)
        tellHealth()
    }

    /// Reports unproven parts to readiness, and failures to the log: once per reason.
    private func tellHealth() {
        node.health.delivery(
            cluster?.conditions ?? probes.conditions, provenMs: cluster.map(\.provenMs) ?? probes.provenMs,
            isPartlyProven: cluster?.isPartlyProven() ?? false)
        let unproven = cluster?.unproven ?? probes.unproven
        for condition in unproven where condition.reason.isFailure && toldReasons[condition.part] != condition.reason {
            toldReasons[condition.part] = condition.reason
            node.log.write(
                .warn, "redis cannot be used",
                [
                    ("part", condition.part.name), ("reason", condition.reason.label), ("detail", condition.detail),
                ])
        }
        for part in toldReasons.keys where !unproven.contains(where: { $0.part == part }) {
            toldReasons[part] = nil
            node.log.write(.info, "redis can be used again", [("part", part.name)])
        }
    }

    /// Milliseconds between two looks at the links; the wait for a look can delay a probe twice.
    private static let probeTickMs = 250
}
