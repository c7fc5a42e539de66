import Configuration
import Core
import Operations
import Reactors
import RedisLink
import Service

/// Proves that delivery works, and reports to readiness and the log what does not.
///
/// Probes that the shards publish must return by the links that receive (``DeliveryProof``). Thread: the bus's.
final class DeliveryWatch {
    private let bus: BusContext
    private let reactor: Reactor
    private let send: (BusEvent, _ shard: Int) -> Void
    private var proof: DeliveryProof
    private var subscriber: (any BusSubscriber)?
    /// The failures already logged, by part.
    private var logged: [Condition.Part: NotReadyReason] = [:]

    /// `send` passes an event to a shard, together with the others of this tick.
    init(_ bus: BusContext, _ reactor: Reactor, send: @escaping (BusEvent, _ shard: Int) -> Void) {
        self.bus = bus
        self.reactor = reactor
        self.send = send
        proof = DeliveryProof(shards: bus.shards, intervalMs: bus.probeMs, timeoutMs: bus.probeTimeoutMs) { slot in
            // `#` cannot occur in a topic, so no client can subscribe to a probe or forge one.
            slot.map { bus.keys.probe(bus.name, slot: $0) } ?? bus.keys.probe(bus.name)
        }
    }

    /// Takes the links that receive.
    func begin(_ subscriber: any BusSubscriber) {
        self.subscriber = subscriber
        perform(proof.use(subscriber.servers))
    }

    // MARK: Channels

    /// A channel is live, perhaps one for probes.
    func channelLive(_ channel: [UInt8]) {
        guard let server = proof.server(of: channel) else { return }
        look(at: server)
        if proof.subscriberLive(server) { bus.figures.resubscribes.add(1) }
        work()
    }

    /// A message arrived on a channel for probes.
    func probeReturned(_ channel: [UInt8], _ payload: [UInt8]) {
        let words = payload.split(separator: UInt8(ascii: " "))
        guard let server = proof.server(of: channel), words.count == 2, let shard = ASCII.decimal(words[0]),
            let number = ASCII.decimal(words[1]),
            proof.returned(number, shard: shard, server, nowMs: reactor.nowMs)
        else { return }
        report()
    }

    // MARK: Links

    /// Takes a result of the watch of the servers.
    func watched(_ update: PlacementUpdate) {
        proof.watched(update)
        if case .placed = update, let subscriber { perform(proof.use(subscriber.servers)) }
        report()
    }

    /// The link that receives from a server was connected or lost.
    func linkChanged(_ server: ServerID) {
        look(at: server)
        work()
    }

    /// Takes a shard's report on its link to a server.
    func shardLink(_ shard: Int, _ server: ServerID, _ report: LinkReport) {
        look(at: server)
        proof.shard(shard, server, report, nowMs: reactor.nowMs)
        work()
    }

    /// A shard could not write a number, which will not return.
    func refused(_ shard: Int, _ server: ServerID, _ number: Int, _ failure: RedisFailure) {
        proof.refused(number, shard: shard, server, failure, nowMs: reactor.nowMs)
        report()
    }

    /// A shard's mailbox was full.
    func undelivered(shard: Int) { proof.undelivered(shard: shard, nowMs: reactor.nowMs) }

    /// Looks at every link and asks for the probes that are due; called often.
    func work() {
        for server in proof.ids {
            look(at: server)
            perform(proof.due(server, nowMs: reactor.nowMs, resumedMs: reactor.stalledMs))
        }
        report()
    }

    private func look(at server: ServerID) {
        guard let subscriber else { return }
        proof.subscriber(server, subscriber.report(of: server), nowMs: reactor.nowMs)
    }

    private func perform(_ steps: [DeliveryProof.Step]) {
        for step in steps {
            switch step {
            case .want(let channel): _ = subscriber?.want(channel)
            case .unwant(let channel): subscriber?.unwant(channel)
            case .reportLinks(let server): for shard in 0..<bus.shards { send(.reportLink(server), shard) }
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
            case .subscriber: subscriber?.reconnect(server, RedisFailure(reason))
            case .shard(let shard): send(.reconnect(server, reason), shard)
            case .node, .master: break
            }
        }
    }

    // MARK: Reports

    /// Reports unproven parts to readiness, and failures to the log: once per reason.
    private func report() {
        bus.masters.use(proof.masters)
        bus.health.delivery(
            proof.conditions, provenMs: proof.provenMs, isPartlyProven: proof.isPartlyProven())
        let unproven = proof.unproven
        for condition in unproven where condition.reason.isFailure && logged[condition.part] != condition.reason {
            logged[condition.part] = condition.reason
            bus.log.write(
                .warn, "redis cannot be used",
                [
                    ("part", condition.part.name), ("reason", condition.reason.label), ("detail", condition.detail),
                ])
        }
        for part in logged.keys where !unproven.contains(where: { $0.part == part }) {
            logged[part] = nil
            bus.log.write(.info, "redis can be used again", [("part", part.name)])
        }
    }
}
