import Configuration
import Core
import Operations
import Reactors
import RedisLink
import Service
import Transport

/// The broker's services for a cluster: its directory of topics, and its way to the shards.
///
/// Thread: the broker's.
protocol ClusterHubOwner: AnyObject {
    /// A channel is live from now on: earlier messages may have been missed.
    func channelLive(_ channel: [UInt8])
    /// A message arrived on a channel.
    func channelMessage(_ channel: [UInt8], _ payload: [UInt8])
    /// Channels are no longer live; each is reported live again later.
    func channelsLost(_ channels: [[UInt8]], _ failure: RedisFailure)
    /// Sends a message to a shard, together with the others of this tick.
    func send(_ message: ShardMessage, to shard: Int)
    /// The set of proven parts has changed.
    func healthChanged()
}

/// The broker's side of a cluster: the map, the subscriptions on every master, and the proof that each delivers.
///
/// Each master has probes of its own, on a channel of one of its slots. A failing master is thus known by name while
/// the others continue. Thread: the broker's.
final class ClusterHub: ClusterSubscriberOwner {
    /// Receives the messages of the channel that is not sharded; a loss of its link affects no topic.
    private final class Letterbox: SubscriberLinkOwner {
        private unowned let owner: any ClusterHubOwner

        init(_ owner: any ClusterHubOwner) { self.owner = owner }

        func channelLive(_ channel: [UInt8]) {}
        func channelMessage(_ channel: [UInt8], _ payload: [UInt8]) { owner.channelMessage(channel, payload) }
        func channelsLost(_ failure: RedisFailure) {}
    }

    /// A master, and the state of its proof.
    private struct Range {
        let name: String
        var slots: Int
        var channel: [UInt8]
        var probes: DeliveryProbes
        var report = LinkReport.down(nil)
    }

    private let node: Node
    private let reactor: Reactor
    private unowned let owner: any ClusterHubOwner
    private let context: ConnectionContext
    private var watch: ClusterWatch?
    private var subscriber: ClusterSubscriber?
    /// The link for the one channel that is not sharded, on which other nodes and couriers send messages to this one.
    private var plain: (node: [UInt8], link: SubscriberLink)?
    private let letterbox: Letterbox
    private let inbox: [UInt8]
    private var ranges: [[UInt8]: Range] = [:]
    private var trouble: Condition?
    private var partial = PartialReadiness()

    init(
        node: Node, reactor: Reactor, context: ConnectionContext, inbox: [UInt8], owner: any ClusterHubOwner
    ) throws(Errno) {
        self.node = node
        self.reactor = reactor
        self.context = context
        self.inbox = inbox
        self.owner = owner
        letterbox = Letterbox(owner)
        let name = "switchboard-\(node.name)-subscriber"
        subscriber = try ClusterSubscriber(context, node.redis, name: name, owner: self) { [node] master in
            node.log.write(.info, "a master was found", [("master", master.address.description)])
            return node.figures.masters.statistics(of: master.address.description, link: "subscriber")
        }
        watch = try ClusterWatch(
            context, node.redis, name: "switchboard-\(node.name)-watch", nodesMax: node.limits.clusterNodesMax
        ) { [unowned self] in watched($0) }
        trouble = Condition(.node, .connecting)
    }

    // MARK: Channels

    /// Subscribes to a sharded channel; true when it is live already.
    func want(_ channel: [UInt8]) -> Bool { subscriber?.want(channel) ?? false }

    /// Ends the subscription to a channel.
    func unwant(_ channel: [UInt8]) { subscriber?.unwant(channel) }

    /// Sends the subscriptions and unsubscriptions of this tick.
    func flush() { subscriber?.flush() }

    // MARK: The map

    /// The map may be out of date.
    func mapIsStale(_ address: ClusterAddress?) { watch?.hint(address) }

    private func watched(_ news: ClusterWatch.News) {
        switch news {
        case .changed(let map):
            trouble = nil
            use(map)
        case .unreachable(let failure):
            // The last known map remains in use.
            if ranges.isEmpty { trouble = Condition(.node, .redis(failure.kind), detail: failure.detail) }
        case .damaged(let uncovered, let open):
            if uncovered.isEmpty {
                trouble = nil
            } else {
                trouble = Condition(.node, .slotsUncovered, detail: ClusterHub.text(uncovered))
            }
            if !open.isEmpty {
                let text = open.prefix(8).map(String.init).joined(separator: ",")
                node.log.write(.warn, "slots are open: they are being moved, or were left half-way", [("slots", text)])
            }
        }
        owner.healthChanged()
    }

    private static func text(_ ranges: [ClosedRange<Int>]) -> String {
        ranges.prefix(8).map { "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: ",")
    }

    private func use(_ map: SlotMap) {
        for shard in node.shards.indices { owner.send(.slots(map), to: shard) }
        for id in ranges.keys where map.master(id) == nil {
            if let channel = ranges[id]?.channel { subscriber?.unwant(channel) }
            ranges[id] = nil
        }
        for master in map.masters { prove(master, in: map) }
        subscriber?.use(map)
        for id in ranges.keys { look(at: id) }
        usePlain(map)
        node.log.write(
            .info, "the cluster's map has changed",
            [
                ("masters", map.masters.map(\.address.description).sorted().joined(separator: " ")),
                ("uncovered", ClusterHub.text(map.uncovered)),
            ])
    }

    /// Starts the probes of a master, on a channel of one of its slots.
    private func prove(_ master: SlotMap.Master, in map: SlotMap) {
        let slots = map.slots(of: master.id)
        let count = slots.reduce(0) { $0 + $1.count }
        if let range = ranges[master.id] {
            ranges[master.id]?.slots = count
            guard map[HashSlot.of(range.channel)]?.id != master.id else { return }
            // The current master of the slot may be proven by the same channel already.
            let isShared = ranges.contains { $0.key != master.id && $0.value.channel == range.channel }
            if !isShared { subscriber?.unwant(range.channel) }
        }
        guard let slot = slots.first?.lowerBound else { return }
        let channel = node.keys.probe(node.name, slot: slot)
        ranges[master.id] = Range(
            name: master.address.description, slots: count, channel: channel,
            probes: DeliveryProbes(
                shards: node.shards.count, intervalMs: node.limits.redisProbeMs,
                timeoutMs: node.limits.redisProbeTimeoutMs))
        _ = subscriber?.want(channel)
        // Shards report the state of their links to it again.
        for shard in node.shards.indices { owner.send(.tellMaster(master.id), to: shard) }
    }

    /// Subscribes to plain channels at the master of the inbox's slot, at which senders to this node publish.
    private func usePlain(_ map: SlotMap) {
        guard let master = map[HashSlot.of(inbox)], plain?.node != master.id else { return }
        plain?.link.stop()
        plain = nil
        let name = "switchboard-\(node.name)-inbox"
        guard
            let link = try? SubscriberLink(
                context, node.redis.at(master.address), node.redis.directory(master.address), name: name,
                owner: letterbox,
                statistics: node.figures.masters.statistics(of: master.address.description, link: "inbox"))
        else { return }
        _ = link.want(inbox)
        plain = (master.id, link)
    }

    // MARK: ClusterSubscriberOwner

    func channelLive(_ channel: [UInt8]) {
        guard let id = ranges.first(where: { $0.value.channel == channel })?.key else {
            return owner.channelLive(channel)
        }
        look(at: id)
        ranges[id]?.probes.subscriberLive()
        due()
    }

    func channelMessage(_ channel: [UInt8], _ payload: [UInt8]) {
        guard let id = ranges.first(where: { $0.value.channel == channel })?.key else {
            return owner.channelMessage(channel, payload)
        }
        let words = payload.split(separator: UInt8(ascii: " "))
        guard words.count == 2, let shard = ASCII.decimal(words[0]), let number = ASCII.decimal(words[1]),
            ranges[id]?.probes.returned(number, shard: shard, nowMs: reactor.nowMs) == true
        else { return }
        owner.healthChanged()
    }

    func channelsLost(_ channels: [[UInt8]], _ failure: RedisFailure) {
        owner.channelsLost(channels, failure)
    }

    func masterChanged(_ id: [UInt8]) {
        look(at: id)
        due()
    }

    /// Notices changes of the subscriber link of a master.
    private func look(at id: [UInt8]) {
        guard let range = ranges[id], let subscriber else { return }
        let now = subscriber.facts(id).map { LinkReport.up(runID: $0.runID) } ?? .down(subscriber.lastFailure(id))
        guard now != range.report else { return }
        ranges[id]?.report = now
        ranges[id]?.probes.subscriber(now, nowMs: reactor.nowMs)
    }

    // MARK: Probes

    /// Takes a shard's report on its link to a master.
    func shardLink(_ shard: Int, _ id: [UInt8], _ report: LinkReport) {
        look(at: id)
        ranges[id]?.probes.shard(shard, report, nowMs: reactor.nowMs)
        due()
    }

    /// A shard could not write a number, which will not return.
    func refused(_ shard: Int, _ id: [UInt8], _ number: Int, _ failure: RedisFailure) {
        ranges[id]?.probes.refused(number, shard: shard, failure, nowMs: reactor.nowMs)
        owner.healthChanged()
    }

    /// A shard's mailbox was full.
    func undelivered(shard: Int) {
        for id in ranges.keys { ranges[id]?.probes.undelivered(shard: shard, nowMs: reactor.nowMs) }
    }

    /// Looks at every link and asks for the probes that are due.
    func due() {
        for id in ranges.keys {
            look(at: id)
            guard let range = ranges[id] else { continue }
            let steps = ranges[id]?.probes.due(nowMs: reactor.nowMs, resumedMs: reactor.stalledMs) ?? []
            for step in steps {
                switch step {
                case .send(let number, let shards):
                    for shard in shards { owner.send(.probeMaster(id, channel: range.channel, number), to: shard) }
                case .reconnect(let parts, let reason): reconnect(id, parts, reason)
                }
            }
        }
        owner.healthChanged()
    }

    private func reconnect(_ id: [UInt8], _ parts: [Condition.Part], _ reason: NotReadyReason) {
        owner.healthChanged()
        node.figures.bus.count(reason, parts)
        watch?.hint(nil)
        for part in parts {
            switch part {
            case .subscriber: subscriber?.reconnect(id, RedisFailure(reason))
            case .shard(let shard): owner.send(.reconnectMaster(id, reason), to: shard)
            case .node, .master: break
            }
        }
    }

    // MARK: State of the proof

    /// Every part that is not proven, of every master.
    var unproven: [Condition] { named(\.unproven) }

    /// The reasons for which delivery is not proven.
    var conditions: [Condition] { named(\.conditions) }

    private func named(_ list: (DeliveryProbes) -> [Condition]) -> [Condition] {
        (trouble.map { [$0] } ?? [])
            + ranges.values.sorted { $0.name < $1.name }.flatMap { range in
                list(range.probes).map { condition in
                    Condition(
                        .master(condition.part.name + "@" + range.name), condition.reason, detail: condition.detail)
                }
            }
    }

    /// Whether some masters are proven and the others are known to fail; also reports the figures of all.
    func isPartlyProven() -> Bool {
        let masters = ranges.values.sorted { $0.name < $1.name }.map { range in
            MasterFigures.Master(
                address: range.name, slots: range.slots, isProven: range.probes.conditions.isEmpty)
        }
        node.figures.masters.use(masters)
        return partial.judge(proven: masters.count(where: \.isProven), conditions)
    }

    /// When a number last returned by the link that waits longest; `nil` while one link never returned any.
    var provenMs: Int? {
        guard !ranges.isEmpty else { return nil }
        var oldest = Int.max
        for range in ranges.values {
            guard let provenMs = range.probes.provenMs else { return nil }
            oldest = min(oldest, provenMs)
        }
        return oldest
    }
}
