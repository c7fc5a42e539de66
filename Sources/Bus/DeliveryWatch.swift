import Configuration
import Core
import Operations
import Reactors
import RedisLink
import Service

/// Proves that delivery works, and reports to readiness and the log what does not.
///
/// Probes that the shards publish must return by the links of all shards that receive (``DeliveryProof``). Thread: the
/// first shard's.
final class DeliveryWatch {
    private let bus: BusContext
    private let reactor: Reactor
    /// Passes an order to a shard, together with the others of this tick.
    var send: (BusOrder, _ shard: Int) -> Void = { _, _ in }
    private var proof: DeliveryProof
    /// Whether numbers have returned that are not reported yet: there may be many in a tick.
    private var hasNews = false
    /// The failures already logged, by part.
    private var logged: [Condition.Part: NotReadyReason] = [:]

    /// Proves nothing until ``use(_:)``.
    init(_ bus: BusContext, _ reactor: Reactor) {
        self.bus = bus
        self.reactor = reactor
        proof = DeliveryProof(shards: bus.shards, intervalMs: bus.probeMs, timeoutMs: bus.probeTimeoutMs) { slot in
            // `#` cannot occur in a topic, so no client can subscribe to a probe or forge one.
            slot.map { bus.keys.probe(bus.name, slot: $0) } ?? bus.keys.probe(bus.name)
        }
    }

    // MARK: Servers

    /// The channels for probes, by server.
    var channels: [ServerID: [UInt8]] { proof.channels }

    /// Takes the present servers.
    func use(_ servers: [BusServer]) {
        let before = proof.channels
        proof.use(servers)
        if proof.channels != before { for shard in 0..<bus.shards { send(.listen(proof.channels), shard) } }
        report()
    }

    /// Takes a result of the watch of the servers.
    func watched(_ update: PlacementUpdate) {
        proof.watched(update)
        report()
    }

    // MARK: Links

    /// Takes a shard's report on one of its links to a server.
    func link(_ link: BusLink, _ shard: Int, _ server: ServerID, _ report: LinkReport) {
        proof.link(link, shard, server, report, nowMs: reactor.nowMs)
        work()
    }

    /// A shard's subscription to a channel for probes is live.
    func channelLive(_ shard: Int, _ channel: [UInt8]) {
        guard let server = proof.server(of: channel) else { return }
        if proof.subscriberLive(shard, server) { bus.figures.resubscribes.add(1) }
        work()
    }

    /// A number that a shard has published arrived at another.
    func returned(_ number: Int, of publisher: Int, at shard: Int, _ channel: [UInt8]) {
        guard let server = proof.server(of: channel),
            proof.returned(number, of: publisher, at: shard, server, nowMs: reactor.nowMs)
        else { return }
        hasNews = true
    }

    /// A shard could not write a number, which will not return.
    func refused(_ number: Int, _ shard: Int, _ server: ServerID, _ failure: RedisFailure) {
        proof.refused(number, shard: shard, server, failure, nowMs: reactor.nowMs)
        report()
    }

    /// A shard's mailbox was full.
    func undelivered(_ shard: Int) { proof.undelivered(shard: shard, nowMs: reactor.nowMs) }

    /// Looks at every link and asks for the probes that are due; called often.
    func work() {
        for server in proof.channels.keys {
            perform(proof.due(server, nowMs: reactor.nowMs, resumedMs: reactor.stalledMs))
        }
        report()
    }

    private func perform(_ steps: [DeliveryProof.Step]) {
        for step in steps {
            switch step {
            case .probe(let server, let channel, let number, let shards):
                for shard in shards { send(.probe(server, channel: channel, number), shard) }
            case .reconnect(let server, let parts, let reason): reconnect(server, parts, reason)
            }
        }
    }

    private func reconnect(_ server: ServerID, _ parts: [Condition.Part], _ reason: NotReadyReason) {
        // Reported before the links go down, so that the log has the cause first.
        report()
        bus.figures.count(reason, parts)
        for part in parts {
            switch part {
            case .subscriber(let shard): send(.reconnect(.subscriber, server, reason), shard)
            case .shard(let shard): send(.reconnect(.calls, server, reason), shard)
            case .node, .master: break
            }
        }
    }

    // MARK: Reports

    /// Reports the numbers that have returned in this tick.
    func endTick() {
        if hasNews { report() }
    }

    /// Reports unproven parts to readiness, and failures to the log: once per reason.
    private func report() {
        hasNews = false
        bus.masters.use(proof.masters)
        bus.health.delivery(
            proof.conditions, provenMs: proof.provenMs, isPartlyProven: proof.isPartlyProven())
        let unproven = proof.unproven
        for condition in unproven where condition.reason.isFailure && logged[condition.part] != condition.reason {
            logged[condition.part] = condition.reason
            bus.log.write(
                .warn, "redis cannot be used",
                fields(condition.part) + [("reason", condition.reason.label), ("detail", condition.detail)])
        }
        for part in logged.keys where !unproven.contains(where: { $0.part == part }) {
            logged[part] = nil
            bus.log.write(.info, "redis can be used again", fields(part))
        }
    }

    private func fields(_ part: Condition.Part) -> [(String, String)] {
        [("part", part.name)] + (part.shard.map { [("shard", "\($0)")] } ?? [])
    }
}
