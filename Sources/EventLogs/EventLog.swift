public import Commands
public import Core
public import Dialects
public import Operations
public import Reactors
public import RedisLink
public import Rights
public import Topics

/// The logs of topics in Redis: publishes, histories, replays, and the reads for joins and repairs.
///
/// Replies are as untrusted as any other input: a malformed one is `internal`, never a trap. Thread: the shard's.
public final class EventLog: TopicReader {
    /// The result that a publisher receives.
    public struct PublishReceipt: Equatable, Sendable {
        /// The position of the event; for a duplicate, that of the first one with the id.
        public var position: Position
        /// Whether the id was known: nothing was stored or sent.
        public var isDuplicate: Bool
    }

    /// A topic's position and state, for people and backends.
    public struct TopicSummary: Sendable {
        /// `nil` when no client has published on it or joined it.
        public var position: Position?
        /// Gateways subscribed to its channel.
        public var nodes: Int
        /// A JSON object; `nil` where the topic has no state, or none was asked for.
        public var state: [UInt8]?
    }

    /// A page of a topic's log.
    public struct History: Sendable {
        /// The position of the newest event; `nil` when the topic has none.
        public var top: Position?
        /// The oldest offset kept, 0 when the log is empty.
        public var first: Int
        /// The events of the page, oldest first.
        public var events: [ChannelMessage]
        /// The offset after which the next page begins; `nil` when this one reaches the end.
        public var next: Int?
    }

    /// A publisher that waits for the answer.
    private struct Publisher {
        let completion: (Result<PublishReceipt, Refusal>) -> Void
        /// The receipt for the bytes of the event; `nil` where nobody pays.
        let paid: KeptBudget.Paid?
    }
    /// The result for each publisher of a group.
    typealias Outcomes = [Result<PublishReceipt, Refusal>]

    let link: any RedisCalls
    /// `nil` unless an event must be on replicas before it is acknowledged.
    private let replicas: ReplicaWaits?
    let scripts: EventLogScripts
    let keys: Keys
    let limits: Limits
    let access: AccessPolicy
    var epochs = EpochSource()
    private var lanes: UInt64 = 0
    private var publishes: PublishQueue<Publisher>
    let reactor: Reactor
    /// Positions that this shard's publishes and reads returned.
    var known: KnownPositions
    let scheduler: ReadScheduler
    private let statistics: ShardStatistics
    /// Now, milliseconds since 1970.
    let wallMs: () -> Int
    let budgets: Budgets
    let pages: SharedReader<History>
    let peeks: SharedReader<TopicSummary>
    let replays: SharedReader<Replay>
    /// The payers charged for the actual cost of the next read for joining clients, by topic.
    var joinPayers: [Topic: Payer] = [:]
    /// The expected cost of the next repair.
    var repairWeight = RepairWeight()
    /// The order in which reads of logs are answered.
    let turns = ReadOrder()
    /// Positions without events that this shard keeps alive.
    var idle: IdlePositions
    /// The position of the last event that members here received; set once the topics exist.
    public var lastDelivered: (Topic) -> Position? = { _ in nil }
    /// Receives script faults for the author of a `@subscribe` script; set once the log exists.
    public var onScriptFault: (_ name: String, _ text: String) -> Void = { _, _ in }

    /// A log on `link`; without `replicas` an event is acknowledged once the primary has stored it.
    public init(
        _ reactor: Reactor, link: any RedisCalls, scripts: EventLogScripts, keys: Keys, limits: Limits,
        access: AccessPolicy, scheduler: ReadScheduler, statistics: ShardStatistics, replicas: ReplicaWaits? = nil,
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
        self.scheduler = scheduler
        self.statistics = statistics
        budgets = scheduler.budgets
        pages = SharedReader(scheduler)
        peeks = SharedReader(scheduler)
        replays = SharedReader(scheduler)
    }

    /// Whether calls can be made now.
    public var isReady: Bool { link.isReady }

    /// A lane of its own: publishes made in one lane are committed in their order.
    public func newLane() -> UInt64 {
        lanes &+= 1
        return lanes
    }

    /// The last position of a topic that this shard knows: from its members' events, or from Redis's answers.
    public func top(_ topic: Topic) -> Position? {
        let (delivered, told) = (lastDelivered(topic), known[topic]?.position)
        guard let delivered, let told else { return delivered ?? told }
        return delivered.epoch == told.epoch && told.offset > delivered.offset ? told : delivered
    }

    /// The event of the last answer, as proof of the data that Redis had; `nil` when it is older than two probes.
    ///
    /// For answers before the last probe, the probe itself has shown that they were on disk.
    public var witness: LinkWitness? {
        guard let (topic, atMs) = known.latest, reactor.nowMs - atMs <= 2 * limits.redisProbeMs,
            let position = known[topic]?.position, position.offset > 0
        else { return nil }
        return LinkWitness(
            meta: keys.meta(topic), epoch: position.epoch, offset: position.offset, atMs: atMs)
    }

    /// Number of publishes on a topic that were committed through this shard, as far as it remembers.
    public func published(_ topic: Topic) -> Int { known[topic]?.published ?? 0 }

    // MARK: Publish

    /// Publishes an event: offset, log and channel in one step; committed when the completion succeeds.
    ///
    /// It is sent when the tick's messages have been read, with the other events of its topic, or after the pending
    /// call of the topic. Events of one topic keep their order.
    ///
    /// `id` is the one of the request, bound to its publisher. `payer` is charged for Redis's time and for the stored
    /// bytes, unless it is a service; `nil`: the gateway itself.
    public func publish(
        _ request: PublishRequest, id: PublishID?, origin: EchoExclusion? = nil, payer: Payer?,
        _ completion: @escaping (Result<PublishReceipt, Refusal>) -> Void
    ) {
        let topic = request.topic
        guard let policy = access.policy(of: topic) else {
            return completion(.failure(Refusal(.notFound, "there is no such namespace")))
        }
        let event = PublishCall.Event(request.event, data: request.data, id: id, origin: origin)
        let paid: KeptBudget.Paid?
        switch pay(payer, topic, event, policy) {
        case .success(let receipt): paid = receipt
        case .failure(let refusal): return completion(.failure(refusal))
        }
        let publisher = Publisher(completion: completion, paid: paid)
        guard publishes.add(topic, event, publisher, deadlineMs: reactor.nowMs + limits.redisCallMs) else {
            giveBack(paid)
            return completion(.failure(.storeOverloaded))
        }
        guard let payer else { return }
        budgets.published(
            payer, bytes: event.data.count, on: topic, us: scripts.publishUs, nowMs: reactor.nowMs)
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
        EventLog.tell(group, .failure(RedisFailure(kind).refusal))
    }

    /// Sends the publishes that this tick has gathered; called when all of its messages have been read.
    public func sendPublishes() {
        while let step = publishes.next(nowMs: reactor.nowMs) {
            switch step {
            case .call(let group): send(group)
            case .expire(let group): giveUp(group, .timedOut)
            }
        }
    }

    private func send(_ group: PublishQueue<Publisher>.Group) {
        let (topic, meta) = (group.topic, keys.meta(group.topic))
        guard let policy = access.policy(of: topic), let run = link.fence(of: meta) else {
            publishes.finished(topic)
            return giveUp(group, .disconnected)
        }
        time(group)
        let stamp = CommandCallBuilder.CallStamp(nowMs: wallMs(), run: run, epoch: epochs.next(), random: [])
        let call = PublishCall(topic, group.events).call(
            scripts.publish, keys: keys, meta: meta, policy: policy, seenSeconds: limits.idempotencySeconds, stamp,
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

    /// Offers the first event for timing, from the tick that read it.
    ///
    /// A group that waited for the call before has the time to the millisecond.
    private func time(_ group: PublishQueue<Publisher>.Group) {
        guard let event = group.events.first else { return }
        let readMs = group.deadlineMs - limits.redisCallMs
        let readUs = readMs < reactor.nowMs ? readMs * 1_000 : reactor.nowUs
        statistics.timed.offer(
            group.topic, event.name, event.id?.id, data: event.data, readUs: readUs, nowUs: reactor.nowUs)
    }

    /// Answers the publishers; for stored events once the replicas have them, where that is required.
    private func tell(_ group: PublishQueue<Publisher>.Group, _ result: Result<Outcomes, Refusal>) {
        guard let replicas, case .success = result else { return EventLog.tell(group, result) }
        replicas.confirm(link.writer) { refusal in
            EventLog.tell(group, refusal.map { .failure($0) } ?? result)
        }
    }

    /// Parses the answer of a call and remembers its positions; gives back the bytes of events that Redis did not
    /// store.
    private func receipts(
        _ result: Result<RESPValue, RedisFailure>, _ group: PublishQueue<Publisher>.Group
    ) -> Result<Outcomes, Refusal> {
        if case .failure(let failure) = result, failure.kind == .other || !failure.mayHaveExecuted {
            for publisher in group.publishers { giveBack(publisher.paid) }
        }
        return result.mapError(\.refusal).flatMap { value in
            guard let outcomes = EventLog.outcomes(value, count: group.events.count) else {
                return .failure(EventLog.nonsense)
            }
            var (last, published): (Position?, Int) = (nil, 0)
            for (publisher, outcome) in zip(group.publishers, outcomes) {
                guard case .success(let receipt) = outcome, !receipt.isDuplicate else {
                    giveBack(publisher.paid)
                    if case .success(let receipt) = outcome, published == 0 { last = receipt.position }
                    continue
                }
                (last, published) = (receipt.position, published + 1)
            }
            if published > 0 { statistics.namespaces.counts(of: group.topic).published.add(published) }
            if let last { known.add(group.topic, last, published: published, nowMs: reactor.nowMs) }
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
