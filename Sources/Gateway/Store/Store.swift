import Commands
import Core
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
    }

    /// Who waits for the answer to a publish.
    private typealias PublishCompletion = (Result<Receipt, Refusal>) -> Void
    /// What each publisher of a group is told.
    private typealias Outcomes = [Result<Receipt, Refusal>]

    private let link: CallLink
    private let scripts: StoreScripts
    private let keys: Keys
    private let limits: Limits
    private let access: AccessPolicy
    private var epochs = EpochSource()
    private var lanes: UInt64 = 0
    private var publishes: PublishQueue<PublishCompletion>
    private let reactor: Reactor
    /// What this shard was told by its publishes and reads.
    private var known: KnownPositions
    /// The last event that members here were given; set once the topics are there.
    var lastDelivered: (Topic) -> Position? = { _ in nil }

    init(
        _ reactor: Reactor, link: CallLink, scripts: StoreScripts, keys: Keys, limits: Limits, access: AccessPolicy
    ) {
        self.reactor = reactor
        publishes = PublishQueue(PublishQueue.Bounds(limits))
        self.link = link
        self.scripts = scripts
        self.keys = keys
        self.limits = limits
        known = KnownPositions(capacity: limits.knownPositionsMax)
        self.access = access
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

    /// Publishes on a topic that were committed through this shard, as far as it remembers.
    func published(_ topic: Topic) -> Int { known[topic]?.published ?? 0 }

    // MARK: Publish

    /// Publishes an event: offset, log and channel in one step; committed when the completion succeeds.
    ///
    /// It is sent at the end of the tick's turn, with what else there is of its topic, or after the answer that the topic
    /// waits for. Events of one topic keep their order.
    func publish(
        _ topic: Topic, _ event: EventName, _ data: [UInt8], _ id: PublishID?,
        _ completion: @escaping (Result<Receipt, Refusal>) -> Void
    ) {
        guard access.policy(of: topic) != nil else {
            return completion(.failure(Refusal(.notFound, "there is no such namespace")))
        }
        let event = PublishCall.Event(event, data: data, id: id)
        let deadlineMs = reactor.nowMs + limits.redisCallMs
        guard publishes.add(topic, event, completion, deadlineMs: deadlineMs) else {
            return completion(.failure(RedisFailure(.inFlightFull).refusal))
        }
    }

    private func sendPublishes() {
        while let step = publishes.next(nowMs: reactor.nowMs) {
            switch step {
            case .call(let group): send(group)
            case .expire(let group): Store.tell(group, .failure(RedisFailure(.timedOut).refusal))
            }
        }
    }

    private func send(_ group: PublishQueue<PublishCompletion>.Group) {
        let topic = group.topic
        guard let policy = access.policy(of: topic), let run = link.facts?.fence else {
            publishes.finished(topic)
            return Store.tell(group, .failure(RedisFailure(.disconnected).refusal))
        }
        let moment = CommandCallBuilder.Moment(nowMs: Clock.wallMs(), run: run, epoch: epochs.next(), random: [])
        let call = PublishCall(topic, group.events).call(
            scripts.publish, keys: keys, policy: policy, seenSeconds: limits.idempotencySeconds, moment,
            top: top(topic))
        link.run(call, lane: nil) { [self] result in
            // Only a refusal in the script's own words (BADKEY, for the key of an id) is sure to have written nothing.
            if case .failure(let failure) = result, failure.kind == .other, group.events.count > 1 {
                return publishes.refused(group)
            }
            publishes.finished(topic)
            Store.tell(group, receipts(result, group))
        }
    }

    /// Reads the answer of a call and remembers it.
    private func receipts(
        _ result: Result<RESPValue, RedisFailure>, _ group: PublishQueue<PublishCompletion>.Group
    ) -> Result<Outcomes, Refusal> {
        result.mapError(\.refusal).flatMap { value in
            guard let outcomes = Store.outcomes(value, count: group.events.count) else {
                return .failure(Store.nonsense)
            }
            let receipts = outcomes.compactMap { try? $0.get() }
            if let last = receipts.last(where: { !$0.isDuplicate }) ?? receipts.last {
                known.add(group.topic, last.position, published: receipts.count { !$0.isDuplicate })
            }
            return .success(outcomes)
        }
    }

    private static func tell(
        _ group: PublishQueue<PublishCompletion>.Group, _ result: Result<Outcomes, Refusal>
    ) {
        switch result {
        case .success(let outcomes):
            for (completion, outcome) in zip(group.publishers, outcomes) { completion(outcome) }
        case .failure(let refusal):
            for completion in group.publishers { completion(.failure(refusal)) }
        }
    }

    // MARK: Read

    /// Reads position, events and state for clients that join or a feed under repair; creates the position when there
    /// is none.
    func read(_ topic: Topic, _ order: LogRead.Order, since: Position?, _ completion: @escaping LogRead.Completion) {
        guard let policy = access.policy(of: topic), let run = link.facts?.fence else {
            return completion(.failure(RedisFailure(.disconnected).refusal))
        }
        var callKeys = [keys.log(topic), keys.meta(topic)]
        var script = scripts.subscribe
        // Only who joins is told the state.
        if order == .newest, let stateful = scripts.stateful(topic) {
            script = stateful.subscribe
            callKeys += stateful.keys(topic, keys)
        }
        let arguments: [[UInt8]] = [
            epochs.next(), run, top(topic)?.fenceText ?? [], Store.decimal(Clock.wallMs()),
            Store.decimal(policy.positionSeconds), since?.epoch ?? [], Store.decimal(since?.offset ?? 0),
            Array(order.rawValue.utf8), Store.decimal(limits.recoveryEventsMax),
            Store.decimal(limits.recoveryBytesMax),
        ]
        let json = limits.answers
        link.run(ScriptCall(script: script, keys: callKeys, arguments: arguments), lane: nil) { [self] result in
            completion(
                result.mapError(\.refusal).flatMap { value in
                    guard let answer = Store.answer(value, order, json: json) else { return .failure(Store.nonsense) }
                    known.add(topic, answer.position)
                    return .success(answer)
                })
        }
    }

    /// Reads a page of the log.
    func history(
        _ topic: Topic, after: Int, limit: Int, _ completion: @escaping (Result<History, Refusal>) -> Void
    ) {
        guard let run = link.facts?.fence else { return completion(.failure(RedisFailure(.disconnected).refusal)) }
        let call = ScriptCall(
            script: scripts.history, keys: [keys.log(topic), keys.meta(topic)],
            arguments: [run, Store.decimal(after), Store.decimal(min(limit, limits.historyPageMax))])
        let json = limits.answers
        link.run(call, lane: nil) { result in
            completion(
                result.mapError(\.refusal).flatMap { value in
                    guard let fields = value.elements, fields.count == 4, let first = Store.number(fields[2]),
                        let epoch = fields[0].bytes
                    else { return .failure(Store.nonsense) }
                    guard !epoch.isEmpty else { return .success(History(top: nil, first: 0, events: [])) }
                    guard let top = Store.position(fields[0], fields[1]),
                        let entries = fields[3].elements
                    else { return .failure(Store.nonsense) }
                    let events = entries.compactMap { Store.event($0, epoch: top.epoch, json: json) }
                    return .success(History(top: top, first: first, events: events))
                })
        }
    }

    /// Reads where a topic stands, its state, and how many gateways are subscribed; creates nothing.
    func peek(_ topic: Topic, _ completion: @escaping (Result<Peek, Refusal>) -> Void) {
        guard let run = link.facts?.fence else { return completion(.failure(RedisFailure(.disconnected).refusal)) }
        let stateful = scripts.stateful(topic)
        let call = ScriptCall(
            script: stateful?.position ?? scripts.position,
            keys: [keys.log(topic), keys.meta(topic)] + (stateful?.keys(topic, keys) ?? []), arguments: [run])
        let (json, channel) = (limits.answers, keys.channel(topic))
        link.run(call, lane: nil) { [link] result in
            guard case .success(let value) = result, let fields = value.elements, fields.count >= 4 else {
                return completion(.failure(result.failure?.refusal ?? Store.nonsense))
            }
            let state = fields.count > 4 ? Store.state(fields[4], json: json) : nil
            var peek = Peek(position: Store.position(fields[0], fields[1]), nodes: 0, state: state)
            link.call(RedisCall("PUBSUB", Array("NUMSUB".utf8), channel)) { result in
                guard case .success(let value) = result, let nodes = value.elements?.last?.integer else {
                    return completion(.failure(result.failure?.refusal ?? Store.nonsense))
                }
                peek.nodes = nodes
                completion(.success(peek))
            }
        }
    }

    /// Asks whether a user is in the set of a topic's members.
    func isMember(_ topic: Topic, user: [UInt8], _ completion: @escaping (Result<Bool, Refusal>) -> Void) {
        link.call(RedisCall("SISMEMBER", keys.members(topic), user)) { result in
            completion(
                result.mapError(\.refusal).flatMap { value in
                    guard let found = value.integer else { return .failure(Store.nonsense) }
                    return .success(found == 1)
                })
        }
    }

    /// Reads what a topic follows: at most `followsMax` topics of its set; what is no topic is left out.
    func follows(_ topic: Topic, _ completion: @escaping (Result<[Topic], Refusal>) -> Void) {
        // SRANDMEMBER with a count is SMEMBERS with a bound.
        let command = RedisCall("SRANDMEMBER", keys.follows(topic), Store.decimal(limits.followsMax))
        link.call(command) { result in
            completion(
                result.mapError(\.refusal).flatMap { value in
                    guard let members = value.elements else { return .failure(Store.nonsense) }
                    return .success(members.compactMap { $0.bytes.flatMap { Topic($0) } })
                })
        }
    }

    // MARK: Replies

    private static let nonsense = Refusal(.internalError, "the store answered something that cannot be")

    private static func decimal(_ value: Int) -> [UInt8] {
        var text: [UInt8] = []
        text.append(decimal: value)
        return text
    }

    private static func number(_ value: RESPValue) -> Int? {
        value.integer ?? value.bytes.flatMap { ASCII.decimal($0) }
    }

    /// Reads epoch, offset and what became of the event, once for each event.
    private static func outcomes(_ value: RESPValue, count: Int) -> Outcomes? {
        guard let fields = value.elements, fields.count == 3 * count else { return nil }
        var outcomes: Outcomes = []
        outcomes.reserveCapacity(count)
        for index in stride(from: 0, to: fields.count, by: 3) {
            guard let outcome = fields[index + 2].integer.flatMap({ PublishCall.Outcome(rawValue: $0) }) else {
                return nil
            }
            guard outcome != .conflict else {
                outcomes.append(.failure(Refusal(.conflict, "this id was used for another event or other data")))
                continue
            }
            guard let position = position(fields[index], fields[index + 1]) else { return nil }
            outcomes.append(.success(Receipt(position: position, isDuplicate: outcome == .duplicate)))
        }
        return outcomes
    }

    private static func position(_ epoch: RESPValue, _ offset: RESPValue) -> Position? {
        guard let epoch = epoch.bytes, let offset = number(offset) else { return nil }
        return Position(epoch: epoch, offset: offset)
    }

    private static func answer(_ value: RESPValue, _ order: LogRead.Order, json: JSON.Limits) -> LogRead.Answer? {
        guard let fields = value.elements, fields.count >= 4, let position = position(fields[0], fields[1]),
            let entries = fields[3].elements
        else { return nil }
        // An entry that no client may get is a hole like one that is not there.
        let events = entries.map { event($0, epoch: position.epoch, json: json) }
        return LogRead.Answer(
            position: position, events: LogRead.consecutive(events, order, upTo: position.offset),
            state: fields.count > 4 ? state(fields[4], json: json) : nil)
    }

    /// A state is a JSON object or none: others write it, so it is checked before it is spliced into a frame.
    private static func state(_ value: RESPValue, json: JSON.Limits) -> [UInt8]? {
        guard let text = value.bytes, let parsed = try? JSON(parsing: text, limits: json), parsed.root.kind == .object
        else { return nil }
        return Array(parsed.root.raw)
    }

    /// An entry of the log; `nil` when it is not what the publish script writes, or may not reach a client.
    private static func event(_ entry: RESPValue, epoch: [UInt8], json: JSON.Limits) -> ChannelMessage? {
        guard let fields = entry.elements, fields.count >= 3, let offset = number(fields[0]),
            let position = Position(epoch: epoch, offset: offset),
            let event = fields[1].bytes.flatMap({ EventName($0) }), !event.isReserved, let data = fields[2].bytes,
            let parsed = try? JSON(parsing: data, limits: json), parsed.root.kind == .object
        else { return nil }
        let id = fields.count > 3 ? fields[3].bytes.flatMap { MessageID($0) } : nil
        return ChannelMessage(position: position, event: event, id: id, data: data)
    }
}

extension Result {
    /// The failure, when it is one.
    var failure: Failure? {
        if case .failure(let failure) = self { return failure }
        return nil
    }
}
