import Configuration
public import Connections
import Core
import Operations
public import Reactors
public import RedisLink
import Service

/// Owns the subscription to Redis, and sends each channel message to the shards that have members for it.
///
/// Thread: the bus's. The thread calls ``takeRequests()`` when the mailbox has messages, and ``endTick()`` at the end
/// of each tick.
public final class BusRouter: BusSubscriberOwner {
    private struct Interest {
        /// One bit a shard.
        var shards: UInt64
        var isLive: Bool
    }

    private let bus: BusContext
    private let reactor: Reactor
    private let mailbox: Mailbox<BusRequest>
    private let keys: Keys
    /// The channel on which other nodes and couriers send messages to this node.
    private let inbox: [UInt8]
    private var subscriber: (any BusSubscriber)?
    private var delivery: DeliveryWatch?
    private var timer: ReactorTimer?
    private var directory: [Topic: Interest] = [:]
    /// The events of this tick for each shard, sent together at its end.
    private var outgoing: [[BusEvent]]
    /// Shards whose mailbox was full: they are notified of the loss as soon as there is room.
    private var overflowed: Set<Int> = []
    private var received: [BusRequest] = []
    /// Channels of a cluster that were lost in this tick, and the last failure.
    private var lost: (channels: Int, failure: RedisFailure?) = (0, nil)
    /// Set by a request to end the thread.
    public private(set) var isStopped = false

    /// Builds the bus on its thread.
    public init(_ bus: BusContext, _ context: ConnectionContext, mailbox: Mailbox<BusRequest>) throws(Errno) {
        self.bus = bus
        self.mailbox = mailbox
        reactor = context.reactor
        keys = bus.keys
        inbox = bus.keys.node(Array(bus.name.utf8))
        outgoing = Array(repeating: [], count: bus.shards)
        let delivery = DeliveryWatch(bus, reactor) { [unowned self] in send($0, to: $1) }
        self.delivery = delivery
        let setup = LinkSetup(context, bus.redis, name: "switchboard-\(bus.name)")
        let plan = BusPlan(inbox: inbox, followers: bus.shards, sentinels: bus.sentinels)
        let subscriber = try setup.topology.bus(setup, plan, owner: self)
        self.subscriber = subscriber
        delivery.begin(subscriber)
        timer = try ReactorTimer(reactor) { [unowned self] in timerFired() }
        timer?.set(atMs: reactor.nowMs)
    }

    private func timerFired() {
        timer?.set(atMs: reactor.nowMs + min(bus.probeMs, bus.probeTimeoutMs, BusRouter.lookMs))
        subscriber?.work()
        delivery?.work()
    }

    /// Milliseconds between two looks at the links; the wait for a look can delay a probe twice.
    private static let lookMs = 250

    // MARK: Requests

    /// Takes the requests of the shards.
    public func takeRequests() {
        mailbox.drain(into: &received)
        for request in received {
            switch request {
            case .want(let topic, let shard): want(topic, shard)
            case .unwant(let topic, let shard): unwant(topic, shard)
            case .link(let shard, let server, let report): delivery?.shardLink(shard, server, report)
            case .hint(let hint): subscriber?.hint(hint)
            case .followed(let shard, let generation): subscriber?.followed(by: shard, generation: generation)
            case .probeRefused(let shard, let server, let number, let failure):
                delivery?.refused(shard, server, number, failure)
            case .stop: isStopped = true
            }
        }
        received.removeAll(keepingCapacity: true)
        subscriber?.flush()
    }

    private func want(_ topic: Topic, _ shard: Int) {
        let bit = UInt64(1) << UInt64(shard)
        if directory[topic] == nil {
            let isLive = subscriber?.want(keys.channel(topic)) ?? false
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
            subscriber?.unwant(keys.channel(topic))
        } else {
            directory[topic] = interest
        }
    }

    // MARK: The way to the shards

    private func send(_ event: BusEvent, to shard: Int) {
        guard outgoing.indices.contains(shard) else { return }
        outgoing[shard].append(event)
    }

    /// Sends the events of a tick.
    public func endTick() {
        logLost()
        for shard in outgoing.indices {
            if overflowed.contains(shard) {
                // One batch, so that a shard with more topics than places in its mailbox is notified of all of them.
                outgoing[shard].removeAll(keepingCapacity: true)
                outgoing[shard].append(.lost)
                if let placement = subscriber?.placement { outgoing[shard].append(.follow(placement)) }
                confirmAll(shard)
                delivery?.undelivered(shard: shard)
            }
            guard !outgoing[shard].isEmpty else { continue }
            if bus.send(shard, outgoing[shard]) {
                overflowed.remove(shard)
            } else {
                if overflowed.insert(shard).inserted { bus.figures.mailboxOverflows.add(1) }
                timer?.set(atMs: reactor.nowMs + 10)
                delivery?.undelivered(shard: shard)
            }
            outgoing[shard].removeAll(keepingCapacity: true)
        }
    }

    private func logLost() {
        guard let failure = lost.failure else { return }
        bus.log.write(
            .warn, "redis subscriptions lost",
            [("channels", "\(lost.channels)"), ("reason", failure.metricLabel), ("detail", failure.detail)])
        lost = (0, nil)
    }

    /// Notifies a shard that lost messages which channels are live, so that it repairs them.
    private func confirmAll(_ shard: Int) {
        let bit = UInt64(1) << UInt64(shard)
        for (topic, interest) in directory where interest.isLive && interest.shards & bit != 0 {
            outgoing[shard].append(.confirmed(topic))
        }
    }

    private func forEachShard(_ shards: UInt64, _ body: (Int) -> Void) {
        var rest = shards
        while rest != 0 {
            body(rest.trailingZeroBitCount)
            rest &= rest - 1
        }
    }

    // MARK: Messages

    /// Sends a topic's event to the shards with members, and other messages to the inbox or the probes.
    public func channelMessage(_ channel: [UInt8], _ payload: [UInt8]) {
        guard let topic = keys.topic(ofChannel: channel) else {
            return channel == inbox ? pass(payload) : delivery?.probeReturned(channel, payload) ?? ()
        }
        guard let interest = directory[topic] else { return }
        bus.figures.channelMessages.add(1)
        if PresenceUpdate.isMeant(payload) { return presenceUpdate(topic, payload, interest.shards) }
        guard let message = ChannelMessage.parse(payload, bus.bounds) else {
            bus.figures.channelMessagesRefused.add(1)
            return
        }
        forEachShard(interest.shards) { outgoing[$0].append(.event(topic, message)) }
    }

    /// Passes a message for this node to a shard; the sender is not verified yet.
    private func pass(_ payload: [UInt8]) {
        guard let message = bus.read(payload), outgoing.indices.contains(message.shard) else {
            return bus.figures.relaysRefused.add(1)
        }
        outgoing[message.shard].append(.inbox(message.bytes))
    }

    private func presenceUpdate(_ topic: Topic, _ payload: [UInt8], _ shards: UInt64) {
        guard let update = PresenceUpdate.parse(payload, bytesMax: bus.jsonBytesMax, json: bus.json) else {
            bus.figures.channelMessagesRefused.add(1)
            return
        }
        forEachShard(shards) { outgoing[$0].append(.presence(topic, update)) }
    }

    // MARK: Subscriptions

    /// Confirms a topic to its shards, or a channel for probes to the proof.
    public func channelLive(_ channel: [UInt8]) {
        guard let topic = keys.topic(ofChannel: channel) else { return delivery?.channelLive(channel) ?? () }
        guard let interest = directory[topic] else { return }
        directory[topic]?.isLive = true
        forEachShard(interest.shards) { outgoing[$0].append(.confirmed(topic)) }
    }

    /// Reports the loss to every shard at the end of the tick.
    public func allChannelsLost(_ failure: RedisFailure) {
        bus.log.write(.warn, "redis subscription lost", [("reason", failure.metricLabel), ("detail", failure.detail)])
        for topic in directory.keys { directory[topic]?.isLive = false }
        for shard in outgoing.indices { outgoing[shard].append(.lost) }
        for server in subscriber?.servers ?? [] { delivery?.linkChanged(server.id) }
    }

    /// Reports each lost topic to its shards; the log gets one line a tick.
    public func channelsLost(_ channels: [[UInt8]], _ failure: RedisFailure) {
        lost = (lost.channels + channels.count, failure)
        for channel in channels {
            guard let topic = keys.topic(ofChannel: channel), let interest = directory[topic], interest.isLive else {
                continue
            }
            directory[topic]?.isLive = false
            forEachShard(interest.shards) { outgoing[$0].append(.topicLost(topic)) }
        }
    }

    /// Passes the change to the proof of delivery.
    public func linkChanged(_ server: ServerID) { delivery?.linkChanged(server) }

    // MARK: Servers

    /// Leads the shards to new servers, before the subscription follows.
    public func watched(_ update: PlacementUpdate) {
        if case .placed(let placement) = update {
            for shard in outgoing.indices { outgoing[shard].append(.follow(placement)) }
        }
        delivery?.watched(update)
        log(update)
    }

    private func log(_ update: PlacementUpdate) {
        switch update {
        case .sentinels(let report): SentinelLog.tell(report, bus.log)
        case .placed(.slots(let map)):
            bus.log.write(
                .info, "the cluster's map has changed",
                [
                    ("masters", map.masters.map(\.address.description).sorted().joined(separator: " ")),
                    ("uncovered", DeliveryProof.text(map.uncovered)),
                ])
        case .damaged(_, let open) where !open.isEmpty:
            let text = open.prefix(8).map(String.init).joined(separator: ",")
            bus.log.write(.warn, "slots are open: they are being moved, or were left half-way", [("slots", text)])
        case .placed, .unreachable, .damaged: break
        }
    }

    /// The figures of a master are those of its address; those of a single server are new.
    public func linkMade(_ name: String, to address: ClusterAddress?) -> RedisStatistics {
        guard let address else {
            let made = RedisStatistics()
            bus.links.add(made)
            return made
        }
        if name == "subscriber" { bus.log.write(.info, "a master was found", [("master", address.description)]) }
        return bus.masters.statistics(of: address.description, link: name)
    }
}
