import Configuration
public import Connections
import Core
import Operations
public import Reactors
import RedisLink
import Service

/// Leads the links of all shards, and proves that they work: the part of the bus that a node has once.
///
/// Thread: the first shard's, which calls ``endTick()`` in each tick.
public final class NodeBus {
    private let bus: BusContext
    private let reactor: Reactor
    private let topology: any RedisTopology
    private let delivery: DeliveryWatch
    private var watch: (any PlacementWatch)?
    private var order: LeaveOrder
    /// The placement that links for channels lead to.
    private var subscribed: Placement?
    private var timer: ReactorTimer?
    /// The orders of this tick for each shard, sent together at its end.
    private var outgoing: [[BusOrder]]
    /// Shards whose mailbox was full: they get the whole state as soon as there is room.
    private var behind: Set<Int> = []

    /// Milliseconds between two looks at the links; the wait for a look can delay a probe twice.
    private static let lookMs = 250
    /// Maximum time for which links for channels wait for those that publish, milliseconds.
    private static let patienceMs = 250

    /// Begins to watch the servers, on the first shard's thread.
    public init(_ bus: BusContext, _ context: ConnectionContext) throws(Errno) {
        self.bus = bus
        reactor = context.reactor
        outgoing = Array(repeating: [], count: bus.shards)
        order = LeaveOrder(followers: bus.shards, patienceMs: NodeBus.patienceMs)
        let setup = LinkSetup(context, bus.redis, name: "switchboard-\(bus.name)")
        topology = setup.topology
        delivery = DeliveryWatch(bus, reactor)
        delivery.send = { [unowned self] in outgoing[$1].append($0) }
        watch = try topology.watch(setup, bus.sentinels) { [unowned self] in watched($0) }
        delivery.use(topology.servers(at: nil))
        timer = try ReactorTimer(reactor) { [unowned self] in timerFired() }
        timer?.set(atMs: reactor.nowMs)
    }

    private func timerFired() {
        timer?.set(atMs: reactor.nowMs + min(bus.probeMs, bus.probeTimeoutMs, NodeBus.lookMs))
        if order.isOverdue(nowMs: reactor.nowMs) { subscribe(at: watch?.placement) }
        delivery.work()
    }

    // MARK: Reports

    /// Takes a report of a shard.
    public func take(_ report: BusReport) {
        switch report {
        case .link(let link, let shard, let server, let report): delivery.link(link, shard, server, report)
        case .live(let shard, let channel): delivery.channelLive(shard, channel)
        case .returned(let number, let publisher, let shard, let channel):
            delivery.returned(number, of: publisher, at: shard, channel)
        case .refused(let number, let shard, let server, let failure):
            delivery.refused(number, shard, server, failure)
        case .hint(let hint): watch?.hint(hint)
        case .followed(let shard, let generation):
            if order.followed(by: shard, generation: generation) { subscribe(at: watch?.placement) }
        }
    }

    // MARK: Orders

    private func sendAll(_ order: BusOrder) {
        for shard in outgoing.indices { outgoing[shard].append(order) }
    }

    private func subscribe(at placement: Placement?) {
        guard let placement else { return }
        subscribed = placement
        sendAll(.subscribe(placement))
    }

    /// Sends the orders of a tick.
    public func endTick() {
        delivery.endTick()
        for shard in outgoing.indices {
            let wasBehind = behind.contains(shard)
            if wasBehind { outgoing[shard] = state }
            guard !outgoing[shard].isEmpty else { continue }
            let isSent = bus.send(shard, outgoing[shard])
            outgoing[shard].removeAll(keepingCapacity: true)
            if isSent { behind.remove(shard) } else { wait(for: shard) }
            if wasBehind || !isSent { delivery.undelivered(shard) }
        }
    }

    private func wait(for shard: Int) {
        if behind.insert(shard).inserted { bus.figures.mailboxOverflows.add(1) }
        timer?.set(atMs: reactor.nowMs + 10)
    }

    /// The orders from which a shard learns everything that it must know.
    private var state: [BusOrder] {
        var orders = [BusOrder.listen(delivery.channels)]
        if let placement = watch?.placement { orders.append(.follow(placement)) }
        if let subscribed, !order.isWaiting { orders.append(.subscribe(subscribed)) }
        return orders
    }

    // MARK: Servers

    /// Leads the calls of all shards to new servers, and afterwards their subscriptions.
    private func watched(_ update: PlacementUpdate) {
        if case .placed(let placement) = update {
            sendAll(.follow(placement))
            if order.mayTake(placement, after: subscribed, nowMs: reactor.nowMs) { subscribe(at: placement) }
        }
        delivery.watched(update)
        if case .placed(let placement) = update { delivery.use(topology.servers(at: placement)) }
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
}
