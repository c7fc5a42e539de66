import Configuration
public import Connections
public import Core
public import Operations
public import Reactors
public import RedisLink
import Service

/// The subscription of a shard in Redis: the topics that have members on it, and the channels for probes.
///
/// A message goes from the socket to the shard's rooms without crossing a thread. Thread: the shard's, which calls
/// ``endTurn()`` and ``endTick()`` in each tick.
public final class ShardBus: BusSubscriberOwner {
    private let bus: BusContext
    private let shard: Int
    private let keys: Keys
    private let statistics: ShardStatistics
    /// The channel on which other nodes and couriers send messages to this node, on the first shard.
    private let inbox: [UInt8]?
    private unowned var receiver: (any BusReceiver)?
    private var subscriber: (any BusSubscriber)?
    /// The channels for probes, by server.
    private var probes: [ServerID: [UInt8]] = [:]
    /// The last report on the link to each server.
    private var told: [ServerID: LinkReport] = [:]
    /// Reports of this tick, and earlier ones for which the first shard's mailbox had no room.
    private var reports: [BusReport] = []
    /// Channels of a cluster that were lost in this tick, and the last failure.
    private var lost: (channels: Int, failure: RedisFailure?) = (0, nil)

    /// The most reports that wait before returned numbers are left out; their links then count as mute.
    private static let reportsMax = 4_096

    /// Builds the subscription of a shard on its thread; no link exists before ``begin(_:_:)``.
    public init(_ bus: BusContext, shard: Int, statistics: ShardStatistics) {
        self.bus = bus
        self.shard = shard
        self.statistics = statistics
        keys = bus.keys
        // Other processes know one channel of a node, so one shard receives it for all.
        inbox = shard == 0 ? bus.keys.node(Array(bus.name.utf8)) : nil
    }

    /// Makes the links, and begins to dial; `receiver` must outlive this object.
    public func begin(_ context: ConnectionContext, _ receiver: any BusReceiver) throws(Errno) {
        self.receiver = receiver
        let setup = LinkSetup(context, bus.redis, name: "switchboard-\(bus.name)-shard-\(shard)")
        subscriber = try setup.topology.bus(setup, inbox: inbox, owner: self)
    }

    /// Ends the links, together with their shard.
    public func stop() {
        subscriber?.stop()
        for server in probes.keys { report(.link(.subscriber, shard: shard, server, .ended)) }
        probes = [:]
    }

    // MARK: Topics

    /// Subscribes to a topic's channel; returns `true` when it is live already, otherwise it is confirmed later.
    public func want(_ topic: Topic) -> Bool { subscriber?.want(keys.channel(topic)) ?? false }

    /// Gives a topic's channel up.
    public func unwant(_ topic: Topic) { subscriber?.unwant(keys.channel(topic)) }

    // MARK: The first shard

    /// Passes a report to the first shard with the others of this tick.
    public func report(_ report: BusReport) { reports.append(report) }

    /// Takes the servers that links for channels lead to now.
    public func follow(_ placement: Placement) { subscriber?.follow(placement) }

    /// Takes the channels for probes; returns the servers whose proof has begun, and whose links are to be reported.
    public func listen(_ channels: [ServerID: [UInt8]]) -> [ServerID] {
        let known = probes
        probes = channels
        let wanted = Set(channels.values)
        for channel in known.values where !wanted.contains(channel) { subscriber?.unwant(channel) }
        told = told.filter { channels[$0.key] != nil }
        let new = channels.filter { known[$0.key] != $0.value }
        for (server, channel) in new {
            told[server] = nil
            look(at: server)
            if subscriber?.want(channel) == true { report(.live(shard: shard, channel: channel)) }
        }
        return Array(new.keys)
    }

    /// Dials the link to a server again.
    public func reconnect(_ server: ServerID, _ reason: NotReadyReason) {
        subscriber?.reconnect(server, RedisFailure(reason))
    }

    /// Reports changes of the links; called now and then.
    public func sweep() {
        for server in probes.keys { look(at: server) }
    }

    /// Sends the subscriptions that this tick has gathered.
    public func endTurn() { subscriber?.flush() }

    /// Sends the reports of this tick, those on connections that ended in it included.
    public func endTick() {
        logLost()
        guard !reports.isEmpty, bus.report(reports) else { return }
        reports.removeAll(keepingCapacity: true)
    }

    private func look(at server: ServerID) {
        guard let report = subscriber?.report(of: server), report != told[server] else { return }
        told[server] = report
        self.report(.link(.subscriber, shard: shard, server, report))
    }

    private func logLost() {
        guard let failure = lost.failure else { return }
        bus.log.write(
            .warn, "redis subscriptions lost",
            [
                ("shard", "\(shard)"), ("channels", "\(lost.channels)"), ("reason", failure.metricLabel),
                ("detail", failure.detail),
            ])
        lost = (0, nil)
    }

    // MARK: Messages

    /// Passes a topic's message to the shard's rooms, and other messages to the inbox or the proof.
    public func channelMessage(_ channel: [UInt8], _ payload: [UInt8]) {
        guard let topic = keys.topic(ofChannel: channel) else {
            return channel == inbox ? pass(payload) : probeReturned(channel, payload)
        }
        statistics.channelMessages.add(1)
        if PresenceUpdate.isMeant(payload) { return presenceUpdate(topic, payload) }
        guard let message = ChannelMessage.parse(payload, bus.bounds) else {
            return statistics.channelMessagesRefused.add(1)
        }
        receiver?.received(topic, message)
    }

    private func presenceUpdate(_ topic: Topic, _ payload: [UInt8]) {
        guard let update = PresenceUpdate.parse(payload, bytesMax: bus.jsonBytesMax, json: bus.json) else {
            return statistics.channelMessagesRefused.add(1)
        }
        receiver?.received(topic, update)
    }

    /// Passes a message for this node to its shard; the sender is not verified yet.
    private func pass(_ payload: [UInt8]) {
        guard let message = bus.read(payload), (0..<bus.shards).contains(message.shard) else {
            return statistics.relaysRefused.add(1)
        }
        if message.shard == shard { return receiver?.inbox(message.bytes) ?? () }
        if !bus.send(message.shard, [.inbox(message.bytes)]) { bus.figures.mailboxOverflows.add(1) }
    }

    private func probeReturned(_ channel: [UInt8], _ payload: [UInt8]) {
        let words = payload.split(separator: UInt8(ascii: " "))
        guard words.count == 2, let publisher = ASCII.decimal(words[0]), let number = ASCII.decimal(words[1]),
            reports.count < ShardBus.reportsMax
        else { return }
        report(.returned(number, of: publisher, at: shard, channel: channel))
    }

    // MARK: Subscriptions

    /// Confirms a topic to the shard's rooms, or a channel for probes to the proof.
    public func channelLive(_ channel: [UInt8]) {
        if let topic = keys.topic(ofChannel: channel) { return receiver?.confirmed(topic) ?? () }
        guard let server = probes.first(where: { $0.value == channel })?.key else { return }
        look(at: server)
        report(.live(shard: shard, channel: channel))
    }

    /// Reports the loss to the shard's rooms.
    public func allChannelsLost(_ failure: RedisFailure) {
        bus.log.write(
            .warn, "redis subscription lost",
            [("shard", "\(shard)"), ("reason", failure.metricLabel), ("detail", failure.detail)])
        receiver?.allLost()
        sweep()
    }

    /// Reports each lost topic to the shard's rooms; the log gets one line a tick.
    public func channelsLost(_ channels: [[UInt8]], _ failure: RedisFailure) {
        lost = (lost.channels + channels.count, failure)
        for channel in channels {
            if let topic = keys.topic(ofChannel: channel) { receiver?.lost(topic) }
        }
    }

    /// Reports the change to the proof of delivery.
    public func linkChanged(_ server: ServerID) {
        if probes[server] != nil { look(at: server) }
    }

    /// Passes the hint to the first shard.
    public func hint(_ hint: ServerHint) { report(.hint(hint)) }

    /// The figures of a master are those of its address; those of a single server are new.
    public func linkMade(_ name: String, to address: ClusterAddress?) -> RedisStatistics {
        guard let address else {
            let made = RedisStatistics()
            bus.links.add(made)
            return made
        }
        // Every shard finds the same masters; one of them reports.
        if shard == 0, name == "subscriber" {
            bus.log.write(.info, "a master was found", [("master", address.description)])
        }
        return bus.masters.statistics(of: address.description, link: "shard-\(shard)-\(name)")
    }
}
