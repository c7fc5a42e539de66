import Commands
import Core
import Dialects
import Reactors
import RedisLink
import Rights

/// A shard's side of Redis: the scripts by their meaning, replies checked and turned into values.
///
/// Replies are as untrusted as any other input: what does not fit is `internal`, never a trap. Thread: the shard's.
final class Store: TopicReader {
    /// What a publisher is told.
    struct Receipt: Equatable {
        var position: Position
        /// Whether the id was known: nothing was stored or sent.
        var isDuplicate: Bool
    }

    /// Where a topic stands, for people and backends.
    struct Peek {
        /// `nil` when nobody has published on it or joined it.
        var position: Position?
        /// Gateways subscribed to its channel.
        var nodes: Int
        var state: [UInt8]?
    }

    /// A page of a topic's log.
    struct History {
        /// The position of the newest event; `nil` when the topic has none.
        var top: Position?
        /// The oldest offset kept, 0 when the log is empty.
        var first: Int
        var events: [ChannelMessage]
        /// The offset behind which the following page begins; `nil` when this one reaches the end.
        var next: Int?
    }

    /// One who waits for the answer to a publish.
    private struct Publisher {
        let completion: (Result<Receipt, Refusal>) -> Void
        /// What was paid for the bytes of the event; `nil` where nobody pays.
        let paid: KeptBudget.Paid?
    }
    /// What each publisher of a group is told.
    typealias Outcomes = [Result<Receipt, Refusal>]

    let link: any RedisCalls
    /// `nil` unless what is acknowledged must be on replicas.
    private let replicas: ReplicaWaits?
    let scripts: StoreScripts
    let keys: Keys
    let limits: Limits
    let access: AccessPolicy
    var epochs = EpochSource()
    private var lanes: UInt64 = 0
    private var publishes: PublishQueue<Publisher>
    let reactor: Reactor
    /// What this shard was told by its publishes and reads.
    var known: KnownPositions
    let desk: ReadDesk
    /// Now, milliseconds since 1970.
    let wallMs: () -> Int
    let budgets: Budgets
    let pages: SharedReader<History>
    let peeks: SharedReader<Peek>
    let replays: SharedReader<Replay>
    /// Who pays for what the next read for joining clients turns out to cost, by topic.
    var joinPayers: [Topic: Payer] = [:]
    /// What the next repair is expected to cost.
    var repairWeight = RepairWeight()
    /// The order in which reads of logs are answered.
    let turns = ReadTurns()
    /// Positions without events that this shard keeps alive.
    var idle: IdlePositions
    /// The last event that members here were given; set once the topics are there.
    var lastDelivered: (Topic) -> Position? = { _ in nil }
    /// Is told what the author of a `@subscribe` script must mend; set once the log is there.
    var onScriptFault: (_ name: String, _ text: String) -> Void = { _, _ in }

    init(
        _ reactor: Reactor, link: any RedisCalls, scripts: StoreScripts, keys: Keys, limits: Limits,
        access: AccessPolicy, desk: ReadDesk, replicas: ReplicaWaits? = nil,
        wallMs: @escaping () -> Int = { Clock.wallMs() }
    ) {
        self.wallMs = wallMs
        self.replicas = replicas
        self.reactor = reactor
        publishes = PublishQueue(PublishQueue.Bounds(limits))
        self.link = link
        self.scripts = scripts
        self.keys = keys
        self.limits = limits
        known = KnownPositions(capacity: limits.knownPositionsMax)
        idle = IdlePositions(lifeSeconds: limits.idlePositionSeconds)
        self.access = access
        self.desk = desk
        budgets = desk.budgets
        pages = SharedReader(desk)
        peeks = SharedReader(desk)
        replays = SharedReader(desk)
        reactor.onTurnEnd = { [unowned self] in sendPublishes() }
    }

    var isReady: Bool { link.isReady }

    /// A lane of its own: publishes made in one lane are committed in their order.
    func newLane() -> UInt64 {
        lanes &+= 1
        return lanes
    }

    /// The last event of a topic that this shard knows of: from its members' feed, or from what Redis has answered.
    func top(_ topic: Topic) -> Position? {
        let (delivered, told) = (lastDelivered(topic), known[topic]?.position)
        guard let delivered, let told else { return delivered ?? told }
        return delivered.epoch == told.epoch && told.offset > delivered.offset ? told : delivered
    }

    /// The event that an answer told of last, as proof of what Redis had; `nil` when it is older than two probes.
    ///
    /// Of what was answered before the last probe, the probe itself has shown that it was on disk.
    var witness: LinkWitness? {
        guard let (topic, atMs) = known.latest, reactor.nowMs - atMs <= 2 * limits.redisProbeMs,
            let position = known[topic]?.position, position.offset > 0
        else { return nil }
        return LinkWitness(
            meta: keys.meta(topic), epoch: position.epoch, offset: position.offset, atMs: atMs)
    }

    /// Publishes on a topic that were committed through this shard, as far as it remembers.
    func published(_ topic: Topic) -> Int { known[topic]?.published ?? 0 }

    // MARK: Publish

    /// Publishes an event: offset, log and channel in one step; committed when the completion succeeds.
    ///
    /// It is sent at the end of the tick's turn, with what else there is of its topic, or after the answer that the topic
    /// waits for. Events of one topic keep their order.
    ///
    /// `payer` pays for Redis's time and for the bytes that stay, unless it is a service; `nil`: the gateway itself.
    func publish(
        _ topic: Topic, _ event: EventName, _ data: [UInt8], _ id: PublishID?, origin: SessionOrigin? = nil,
        payer: Payer?, _ completion: @escaping (Result<Receipt, Refusal>) -> Void
    ) {
        guard let policy = access.policy(of: topic) else {
            return completion(.failure(Refusal(.notFound, "there is no such namespace")))
        }
        let event = PublishCall.Event(event, data: data, id: id, origin: origin)
        let paid: KeptBudget.Paid?
        switch pay(payer, topic, event, policy) {
        case .success(let receipt): paid = receipt
        case .failure(let refusal): return completion(.failure(refusal))
        }
        let publisher = Publisher(completion: completion, paid: paid)
        guard publishes.add(topic, event, publisher, deadlineMs: reactor.nowMs + limits.redisCallMs) else {
            giveBack(paid)
            return completion(.failure(RedisFailure(.inFlightFull).refusal))
        }
    }

    /// Pays for the time of a publish and for the bytes that it leaves.
    private func pay(
        _ payer: Payer?, _ topic: Topic, _ event: PublishCall.Event, _ policy: NamespacePolicy
    ) -> Result<KeptBudget.Paid?, Refusal> {
        guard let payer, payer.kind != .service else { return .success(nil) }
        let kept = KeptEvent(
            bytes: policy.logEventsMax == 0 ? 0 : event.loggedBytes, eventsMax: policy.logEventsMax,
            bytesMax: policy.logBytesMax, seconds: policy.logSeconds,
            seenBytes: event.id.map { topic.bytes.count + $0.owner.count + $0.id.bytes.count } ?? 0,
            seenSeconds: limits.idempotencySeconds)
        let paid = budgets.keep(payer, kept, on: topic, nowMs: reactor.nowMs)
        guard case .success(let receipt) = paid,
            let refusal = budgets.pay(payer, us: scripts.publishUs, nowMs: reactor.nowMs)
        else { return paid }
        giveBack(receipt)
        return .failure(refusal)
    }

    /// Gives back the bytes of an event of which Redis certainly keeps nothing.
    private func giveBack(_ paid: KeptBudget.Paid?) {
        if let paid { budgets.giveBack(paid, nowMs: reactor.nowMs) }
    }

    /// Refuses the events of a call that was never sent.
    private func giveUp(_ group: PublishQueue<Publisher>.Group, _ kind: RedisFailure.Kind) {
        for publisher in group.publishers { giveBack(publisher.paid) }
        Store.tell(group, .failure(RedisFailure(kind).refusal))
    }

    private func sendPublishes() {
        while let step = publishes.next(nowMs: reactor.nowMs) {
            switch step {
            case .call(let group): send(group)
            case .expire(let group): giveUp(group, .timedOut)
            }
        }
    }

    private func send(_ group: PublishQueue<Publisher>.Group) {
        let topic = group.topic
        guard let policy = access.policy(of: topic), let run = link.fence(of: keys.meta(topic)) else {
            publishes.finished(topic)
            return giveUp(group, .disconnected)
        }
        let moment = CommandCallBuilder.Moment(nowMs: wallMs(), run: run, epoch: epochs.next(), random: [])
        let call = PublishCall(topic, group.events).call(
            scripts.publish, keys: keys, policy: policy, seenSeconds: limits.idempotencySeconds, moment,
            top: top(topic))
        link.run(call, lane: nil) { [self] result in
            // Only a refusal in the script's own words (BADKEY, for the key of an id) is sure to have written nothing.
            if case .failure(let failure) = result, failure.kind == .other, group.events.count > 1 {
                return publishes.refused(group)
            }
            publishes.finished(topic)
            tell(group, receipts(result, group))
        }
    }

    /// Tells the publishers; those whose event is stored once the replicas have it, where that is wanted.
    private func tell(_ group: PublishQueue<Publisher>.Group, _ result: Result<Outcomes, Refusal>) {
        guard let replicas, case .success = result else { return Store.tell(group, result) }
        replicas.confirm(link.writer) { refusal in
            Store.tell(group, refusal.map { .failure($0) } ?? result)
        }
    }

    /// Reads the answer of a call and remembers it; the bytes of what was not stored are given back.
    private func receipts(
        _ result: Result<RESPValue, RedisFailure>, _ group: PublishQueue<Publisher>.Group
    ) -> Result<Outcomes, Refusal> {
        if case .failure(let failure) = result, failure.kind == .other || !failure.mayHaveExecuted {
            for publisher in group.publishers { giveBack(publisher.paid) }
        }
        return result.mapError(\.refusal).flatMap { value in
            guard let outcomes = Store.outcomes(value, count: group.events.count) else {
                return .failure(Store.nonsense)
            }
            for (publisher, outcome) in zip(group.publishers, outcomes)
            where (try? outcome.get())?.isDuplicate ?? true { giveBack(publisher.paid) }
            let receipts = outcomes.compactMap { try? $0.get() }
            if let last = receipts.last(where: { !$0.isDuplicate }) ?? receipts.last {
                known.add(
                    group.topic, last.position, published: receipts.count { !$0.isDuplicate }, nowMs: reactor.nowMs)
            }
            return .success(outcomes)
        }
    }

    private static func tell(
        _ group: PublishQueue<Publisher>.Group, _ result: Result<Outcomes, Refusal>
    ) {
        switch result {
        case .success(let outcomes):
            for (publisher, outcome) in zip(group.publishers, outcomes) { publisher.completion(outcome) }
        case .failure(let refusal):
            for publisher in group.publishers { publisher.completion(.failure(refusal)) }
        }
    }
}

extension Result {
    /// The failure, when it is one.
    var failure: Failure? {
        if case .failure(let failure) = self { return failure }
        return nil
    }
}
