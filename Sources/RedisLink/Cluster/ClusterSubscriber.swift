public import Connections
import Core
public import Reactors

/// The callbacks of a subscriber of a whole cluster.
///
/// Thread: the reactor's.
public protocol ClusterSubscriberOwner: AnyObject {
    /// A channel is live from now on, for the first time or again; earlier messages may have been missed.
    func channelLive(_ channel: [UInt8])
    /// A message arrived on a channel; while a slot moves it may arrive twice.
    func channelMessage(_ channel: [UInt8], _ payload: [UInt8])
    /// Channels are no longer live; ``channelLive(_:)`` is called for each when it is live again.
    func channelsLost(_ channels: [[UInt8]], _ failure: RedisFailure)
    /// The link to a master was connected or lost.
    func masterChanged(_ node: [UInt8])
    /// The map may be out of date; `address` knows more, when one is given.
    func mapIsStale(_ address: ClusterAddress?)
}

/// Receives the sharded channels of a whole cluster, each on the master of its slot.
///
/// It stores the wanted channels by slot, and subscribes those of each slot where the map says. A moved slot is
/// subscribed at the new master before the old one is given up. So the only gap is that of the slot itself. Thread: the
/// reactor's.
public final class ClusterSubscriber: ShardedLinkOwner {
    private struct Slot {
        var channels: Set<[UInt8]> = []
        /// The node on which they are subscribed, or will be.
        var node: [UInt8]?
        /// The node on which they were before, until the new one has them.
        var before: [UInt8]?
        /// The time of the next retry for refused or lost channels, and the number of retries so far.
        var retryMs: Int?
        var retries = 0
    }

    private struct Node {
        let link: ShardedLink
        let address: ClusterAddress
        /// The time since which the map gives it no slot.
        var idleSinceMs: Int?
    }

    private let context: ConnectionContext
    private let target: RedisTarget
    private let name: String
    private unowned let owner: any ClusterSubscriberOwner
    private var map = SlotMap.empty
    private var slots: [Int: Slot] = [:]
    private var nodes: [[UInt8]: Node] = [:]
    private var waiting: Set<Int> = []
    private var timer: ReactorTimer?
    /// The time at which the timer fires; `Int.max` while it is not set.
    private var timerMs = Int.max
    private let statistics: (SlotMap.Master) -> RedisStatistics

    /// The time for which a link without slots is kept, milliseconds: a moved slot may return.
    static let idleMs = 60_000

    /// Makes a subscriber without links; ``use(_:)`` gives it the map.
    ///
    /// `statistics` returns the figures in which a new link counts.
    public init(
        _ context: ConnectionContext, _ target: RedisTarget, name: String, owner: any ClusterSubscriberOwner,
        statistics: @escaping (SlotMap.Master) -> RedisStatistics
    ) throws(Errno) {
        self.context = context
        self.target = target
        self.name = name
        self.owner = owner
        self.statistics = statistics
        timer = try ReactorTimer(context.reactor) { [unowned self] in timerFired() }
    }

    /// Ends every link.
    public func stop() {
        timer?.invalidate()
        timer = nil
        for node in nodes.values { node.link.stop() }
        nodes.removeAll()
    }

    /// The node ids of the masters with a link.
    public var linkedNodes: [[UInt8]] { Array(nodes.keys) }

    /// The facts that the master's server reported on the link; `nil` while there is no connection.
    public func facts(_ node: [UInt8]) -> ServerFacts? { nodes[node]?.link.facts }

    /// The last failure of the link to the master.
    public func lastFailure(_ node: [UInt8]) -> RedisFailure? { nodes[node]?.link.lastFailure }

    /// Gives up the connection to a master and dials it again.
    public func reconnect(_ node: [UInt8], _ failure: RedisFailure) { nodes[node]?.link.reconnect(failure) }

    // MARK: Channels

    /// Wants a channel; returns `true` when it is live already, otherwise the owner is notified later.
    public func want(_ channel: [UInt8]) -> Bool {
        let number = HashSlot.of(channel)
        if slots[number] == nil { slots[number] = Slot(node: map[number]?.id) }
        slots[number]?.channels.insert(channel)
        guard let node = slots[number]?.node, let link = link(node) else { return false }
        return link.want(channel, slot: number)
    }

    /// Stops wanting a channel.
    public func unwant(_ channel: [UInt8]) {
        let number = HashSlot.of(channel)
        guard let slot = slots[number], slot.channels.contains(channel) else { return }
        for node in [slot.node, slot.before].compactMap({ $0 }) { nodes[node]?.link.unwant(channel) }
        slots[number]?.channels.remove(channel)
        if slots[number]?.channels.isEmpty == true {
            slots[number] = nil
            waiting.remove(number)
        }
    }

    /// Sends the subscriptions and unsubscriptions that this tick has gathered.
    public func flush() {
        for node in nodes.values { node.link.flush() }
    }

    // MARK: The map

    /// Takes a map: slots that have moved are subscribed at their new masters.
    public func use(_ map: SlotMap) {
        self.map = map
        let nowMs = context.reactor.nowMs
        for master in map.masters { _ = link(master.id) }
        for number in slots.keys { place(number) }
        for (id, node) in nodes {
            guard map.master(id) == nil else { nodes[id]?.idleSinceMs = nil; continue }
            nodes[id]?.idleSinceMs = node.idleSinceMs ?? nowMs
        }
        setTimer()
        flush()
    }

    private func place(_ number: Int) {
        guard let slot = slots[number], let master = map[number] else { return }
        guard slot.node != master.id else { return }
        // Two moves in a row: the node in between is not needed.
        if let before = slot.before, before != master.id { leave(slot.channels, before) }
        if let node = slot.node, slot.before != nil, node != master.id { leave(slot.channels, node) }
        slots[number]?.before = slot.before == nil ? slot.node : nil
        slots[number]?.node = master.id
        slots[number]?.retryMs = nil
        slots[number]?.retries = 0
        waiting.remove(number)
        guard let link = link(master.id) else { return }
        for channel in slot.channels where link.want(channel, slot: number) { channelLive(channel, on: link) }
    }

    private func leave(_ channels: Set<[UInt8]>, _ node: [UInt8]) {
        for channel in channels { nodes[node]?.link.unwant(channel) }
    }

    /// The link to a master of the map, dialled if there is none.
    private func link(_ id: [UInt8]) -> ShardedLink? {
        guard let master = map.master(id) else { return nodes[id]?.link }
        if let node = nodes[id] {
            if node.address == master.address { return node.link }
            // The node has another address now; its channels are subscribed there.
            node.link.stop()
            nodes[id] = nil
        }
        let address = master.address
        guard
            let link = try? ShardedLink(
                context, target.at(address), node: id, name: "\(name)-\(address.port)",
                statistics: statistics(master), owner: self)
        else { return nil }
        nodes[id] = Node(link: link, address: address)
        for (number, slot) in slots where slot.node == id {
            for channel in slot.channels { _ = link.want(channel, slot: number) }
        }
        return link
    }

    // MARK: ShardedLinkOwner

    func linkChanged(_ link: ShardedLink, isLost: Bool) {
        if isLost {
            let lost = slots.values.filter { $0.node == link.node }.flatMap(\.channels)
            if !lost.isEmpty { owner.channelsLost(lost, link.lastFailure ?? RedisFailure(.disconnected)) }
        }
        if link.facts == nil { owner.mapIsStale(nil) }
        owner.masterChanged(link.node)
    }

    func channelLive(_ channel: [UInt8], on link: ShardedLink) {
        let number = HashSlot.of(channel)
        guard let slot = slots[number], slot.channels.contains(channel), slot.node == link.node else { return }
        if let before = slot.before {
            nodes[before]?.link.unwant(channel)
            // The other link is flushed soon, and once for all channels that become live now.
            wake(atMs: context.reactor.nowMs)
        }
        slots[number]?.retries = 0
        owner.channelLive(channel)
    }

    func channelMessage(_ channel: [UInt8], _ payload: [UInt8]) { owner.channelMessage(channel, payload) }

    func channelsGone(_ channels: [[UInt8]], slot number: Int, on link: ShardedLink, because failure: RedisFailure) {
        guard let slot = slots[number] else { return }
        let moved = Redirection(failure.detail.utf8)
        if let moved, moved.kind == .moved { _ = map.patch(moved.slot, to: moved.address) }
        owner.mapIsStale(moved?.address)
        if slot.before == link.node {
            // The new node has them, or will.
            slots[number]?.before = nil
            for channel in channels { link.unwant(channel) }
            return
        }
        guard slot.node == link.node else { return }
        let lost = channels.filter { slot.channels.contains($0) }
        if !lost.isEmpty { owner.channelsLost(lost, failure) }
        if let master = map[number], master.id != link.node {
            place(number)
            return wake(atMs: context.reactor.nowMs)
        }
        guard slot.retryMs == nil else { return }
        slots[number]?.retryMs = context.reactor.nowMs + min(20 << min(slot.retries, 6), 1_000)
        slots[number]?.retries += 1
        waiting.insert(number)
        wake(atMs: slots[number]?.retryMs ?? Int.max)
    }

    // MARK: Time

    private func timerFired() {
        timerMs = Int.max
        let nowMs = context.reactor.nowMs
        for number in waiting {
            guard let slot = slots[number], let dueMs = slot.retryMs, dueMs <= nowMs else { continue }
            slots[number]?.retryMs = nil
            waiting.remove(number)
            if let node = slot.node { nodes[node]?.link.retry(Array(slot.channels)) }
        }
        for (id, node) in nodes {
            guard let sinceMs = node.idleSinceMs, nowMs - sinceMs >= ClusterSubscriber.idleMs else { continue }
            node.link.stop()
            nodes[id] = nil
        }
        setTimer()
        flush()
    }

    private func setTimer() {
        let retryMs = waiting.compactMap { slots[$0]?.retryMs }.min()
        let idleMs = nodes.values.compactMap(\.idleSinceMs).min().map { $0 + ClusterSubscriber.idleMs }
        guard let nextMs = [retryMs, idleMs].compactMap({ $0 }).min() else { return }
        wake(atMs: max(nextMs, context.reactor.nowMs + 1))
    }

    /// Sets the timer to fire at that time, or keeps an earlier one.
    private func wake(atMs: Int) {
        guard atMs < timerMs else { return }
        timerMs = atMs
        timer?.set(atMs: atMs)
    }
}

@available(*, unavailable)
extension ClusterSubscriber: Sendable {}
