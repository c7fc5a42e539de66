import Commands
import Configuration
import Core
import Reactors
import RedisLink
import Service
import Transport

/// What shards ask of the broker, and the node of both.
enum BrokerMessage: Sendable {
    /// A shard has members for a topic.
    case want(Topic, shard: Int)
    /// A shard has none left.
    case unwant(Topic, shard: Int)
    /// End the thread.
    case stop
}

/// The broker: owns the subscription to Redis and sends each channel message to the shards that have members for it.
///
/// It also proves that delivery works: a probe published through Redis must come back (design section 8). Thread:
/// its own.
final class Broker: SubscriberLinkOwner {
    private struct Interest {
        /// One bit a shard.
        var shards: UInt64
        var isLive: Bool
    }

    private let node: Node
    private let reactor: Reactor
    private let context: ConnectionContext
    private let mailbox: Mailbox<BrokerMessage>
    private let keys: Keys
    private let limits: Limits
    private var link: SubscriberLink?
    private var prober: CommandLink?
    private var probe: DeliveryProbe
    private var timer: ReactorTimer?
    private var directory: [Topic: Interest] = [:]
    /// What this tick brings to each shard; sent together at its end.
    private var outgoing: [[ShardMessage]]
    /// Shards whose mailbox was full: they are told that they lost messages as soon as there is room.
    private var overflowed: Set<Int> = []
    private var received: [BrokerMessage] = []
    /// The failure that the log was told last; `nil` while Redis is well.
    private var toldReason: String?

    /// Builds the broker on its thread.
    init(node: Node, reactor: Reactor, mailbox: Mailbox<BrokerMessage>) throws(Errno) {
        self.node = node
        self.reactor = reactor
        self.mailbox = mailbox
        keys = node.keys
        limits = node.limits
        outgoing = node.shards.map { _ in [] }
        context = ConnectionContext(reactor: reactor, limits: ConnectionLimits(node.limits, reactors: 1))
        probe = DeliveryProbe(intervalMs: node.limits.redisProbeMs, timeoutMs: node.limits.redisProbeTimeoutMs)
        let name = "switchboard-" + node.name
        link = try SubscriberLink(context, node.redis, name: name + "-subscriber", owner: self)
        prober = try CommandLink(
            context, node.redis, name: name + "-probe", registry: node.library.table.registry, onReady: { _ in })
        _ = link?.want(node.probeChannel)
        timer = try ReactorTimer(reactor) { [unowned self] in probeDue() }
        timer?.set(atMs: reactor.nowMs)
        node.redisStatistics.add(link?.statistics, prober?.statistics)
        reactor.onMailbox = { [unowned self] in takeMessages() }
        reactor.onTickEnd = { [unowned self] in tickEnded() }
    }

    private func takeMessages() {
        mailbox.drain(into: &received)
        for message in received {
            switch message {
            case .want(let topic, let shard): want(topic, shard)
            case .unwant(let topic, let shard): unwant(topic, shard)
            case .stop: reactor.stop()
            }
        }
        received.removeAll(keepingCapacity: true)
        link?.flush()
    }

    private func want(_ topic: Topic, _ shard: Int) {
        let bit = UInt64(1) << UInt64(shard)
        if directory[topic] == nil {
            let isLive = link?.want(keys.channel(topic)) ?? false
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
        } else {
            directory[topic] = interest
        }
    }

    private func tickEnded() {
        for shard in outgoing.indices {
            if overflowed.contains(shard) {
                // One batch, so that a shard with more topics than its mailbox has places is told of all of them.
                outgoing[shard].removeAll(keepingCapacity: true)
                outgoing[shard].append(.lost)
                confirmAll(shard)
            }
            guard !outgoing[shard].isEmpty else { continue }
            if node.shards[shard].send(contentsOf: outgoing[shard]) {
                overflowed.remove(shard)
            } else {
                if overflowed.insert(shard).inserted { node.statistics.mailboxOverflows.add(1) }
                timer?.set(atMs: reactor.nowMs + 10)
            }
            outgoing[shard].removeAll(keepingCapacity: true)
        }
    }

    /// Tells a shard that lost messages which channels are live, so that it repairs them.
    private func confirmAll(_ shard: Int) {
        let bit = UInt64(1) << UInt64(shard)
        for (topic, interest) in directory where interest.isLive && interest.shards & bit != 0 {
            outgoing[shard].append(.confirmed(topic))
        }
    }

    // MARK: SubscriberLinkOwner

    func channelLive(_ channel: [UInt8]) {
        guard let topic = keys.topic(ofChannel: channel), let interest = directory[topic] else { return }
        directory[topic]?.isLive = true
        forEachShard(interest.shards) { outgoing[$0].append(.confirmed(topic)) }
    }

    func channelMessage(_ channel: [UInt8], _ payload: [UInt8]) {
        if channel == node.probeChannel { return probeReturned(payload) }
        guard let topic = keys.topic(ofChannel: channel), let interest = directory[topic] else { return }
        node.statistics.channelMessages.add(1)
        guard let message = ChannelMessage.parse(payload, limits: limits.json) else {
            node.statistics.channelMessagesRefused.add(1)
            return
        }
        forEachShard(interest.shards) { outgoing[$0].append(.event(topic, message)) }
    }

    func channelsLost(_ failure: RedisFailure) {
        node.log.write(.warn, "redis subscription lost", [("reason", failure.metricLabel), ("detail", failure.detail)])
        for topic in directory.keys { directory[topic]?.isLive = false }
        for shard in outgoing.indices { outgoing[shard].append(.lost) }
        probe.reset()
        node.health.deliveryLost(failure.metricLabel)
    }

    private func forEachShard(_ shards: UInt64, _ body: (Int) -> Void) {
        var rest = shards
        while rest != 0 {
            body(rest.trailingZeroBitCount)
            rest &= rest - 1
        }
    }

    // MARK: The delivery probe

    private func probeDue() {
        let nowMs = reactor.nowMs
        timer?.set(atMs: nowMs + min(limits.redisProbeMs, 500))
        switch probe.due(nowMs: nowMs, isSubscribed: link?.facts != nil && prober?.isReady == true) {
        case .wait:
            break
        case .send(let number):
            var payload: [UInt8] = []
            payload.append(decimal: number)
            prober?.call(RedisCommand("PUBLISH", node.probeChannel, payload)) { _ in }
        case .failed:
            node.log.write(.error, "redis delivery probe lost", [("timeoutMs", "\(limits.redisProbeTimeoutMs)")])
            node.statistics.probeFailures.add(1)
            node.health.deliveryLost("probe_lost")
            link?.reconnect(RedisFailure(.timedOut))
            prober?.reconnect(RedisFailure(.timedOut))
        }
        tellWhatIsDown()
    }

    /// Readiness and the log say why Redis cannot be used; the log once per reason.
    private func tellWhatIsDown() {
        var failure: RedisFailure?
        if link?.facts == nil {
            failure = link?.lastFailure
        } else if prober?.isReady != true {
            failure = prober?.lastFailure
        } else {
            toldReason = nil
            return
        }
        let reason = failure?.metricLabel ?? "connecting"
        node.health.deliveryLost(reason)
        if let failure, toldReason != reason {
            toldReason = reason
            node.log.write(.warn, "redis cannot be used", [("reason", reason), ("detail", failure.detail)])
        }
    }

    private func probeReturned(_ payload: [UInt8]) {
        guard let number = ASCII.decimal(payload), probe.returned(number) else { return }
        node.health.deliveryProven(atMs: reactor.nowMs)
    }
}
