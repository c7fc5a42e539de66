import Commands
public import Core
import Operations
import Reactors
import RedisLink
public import Rights
public import Topics

/// Reads of topics for HTTP callers, and the renewal of positions.
extension EventLog {
    /// Reads a page of the log; the caller's budget is charged.
    public func history(
        _ topic: Topic, after: Int, limit: Int, payer: Payer,
        _ completion: @escaping (Result<History, Refusal>) -> Void
    ) {
        let limit = min(limit, limits.historyPageMax, limits.logPageEventsMax)
        let key = SharedReader<History>.Key(
            script: "history", keys: [topic.bytes], arguments: [EventLog.decimal(after), EventLog.decimal(limit)],
            isAnonymous: payer.kind == .anonymous)
        let weightUs = scripts.historyUs(limit, of: limits.logPageEventsMax)
        pages.read(
            key, payer: payer, weightUs: weightUs,
            run: { [self] done in readPage(topic, after: after, limit: limit, done) }, completion)
    }

    private func readPage(
        _ topic: Topic, after: Int, limit: Int, _ completion: @escaping (Result<History, Refusal>) -> Void
    ) {
        guard let run = link.fence(of: keys.meta(topic)) else {
            return completion(.failure(.storeUnavailable))
        }
        let call = ScriptCall(
            script: scripts.history, keys: [keys.log(topic), keys.meta(topic)],
            arguments: [
                run, EventLog.decimal(after), EventLog.decimal(limit), EventLog.decimal(limits.logPageBytesMax),
            ],
            fenceAt: 0)
        let json = limits.answers
        link.run(call, lane: nil) { result in
            completion(
                result.mapError(\.refusal).flatMap { value in
                    guard let fields = value.elements, fields.count == 5, let first = EventLog.number(fields[2]),
                        let epoch = fields[0].bytes, let next = EventLog.number(fields[4])
                    else { return .failure(EventLog.nonsense) }
                    guard !epoch.isEmpty else { return .success(History(top: nil, first: 0, events: [], next: nil)) }
                    guard let top = EventLog.position(fields[0], fields[1]),
                        let entries = fields[3].elements
                    else { return .failure(EventLog.nonsense) }
                    let events = entries.compactMap { EventLog.event($0, epoch: top.epoch, json: json) }
                    return .success(History(top: top, first: first, events: events, next: next > 0 ? next : nil))
                })
        }
    }

    /// Reads a topic's position, its state, and the number of subscribed gateways; creates nothing.
    ///
    /// The asker's budget is charged. Where a script decides who may join, it decides here as well, unless the state is
    /// not wanted.
    public func peek(
        _ topic: Topic, _ asker: ReadCaller, isReported: Bool = true,
        _ completion: @escaping (Result<TopicSummary, Refusal>) -> Void
    ) {
        let isPersonal = isPersonal(topic)
        let arguments = isPersonal ? StateProvider.arguments(topic, asker.caller, nowMs: 0) : []
        let payer = asker.payer
        let key = SharedReader<TopicSummary>.Key(
            script: "position", keys: [topic.bytes], arguments: arguments + (isReported ? [] : [[]]),
            isAnonymous: payer.kind == .anonymous)
        peeks.read(
            key, payer: payer, weightUs: scripts.positionUs(topic),
            run: { [self] done in readPeek(topic, isPersonal ? asker : nil, isReported: isReported, done) }, completion)
    }

    /// Asks a topic's script, where it has one, whether the caller may still be subscribed; no caller is charged.
    public func recheck(
        _ topic: Topic, _ asker: ReadCaller, _ completion: @escaping (Result<Void, Refusal>) -> Void
    ) {
        guard isPersonal(topic) else { return completion(.success(())) }
        let refuse: (Refusal) -> Void = { completion(.failure($0)) }
        scheduler.addOwn(weightUs: scripts.positionUs(topic), refuse: refuse) { [self] over in
            readPosition(topic, asker, isReported: true) { result in
                over()
                completion(result.map { _ in })
            }
        }
    }

    /// Reads a topic's position; `asker` is the caller for its script, `nil` where it has none.
    private func readPosition(
        _ topic: Topic, _ asker: ReadCaller?, isReported: Bool,
        _ completion: @escaping (Result<[RESPValue], Refusal>) -> Void
    ) {
        guard let run = link.fence(of: keys.meta(topic)) else {
            return completion(.failure(.storeUnavailable))
        }
        let stateful = isReported ? scripts.stateful(topic) : nil
        let asked = asker.flatMap { asker in stateful?.personal.map { (asker.caller, $0) } }
        let more = asked.map { StateProvider.arguments(topic, $0.0, nowMs: wallMs()) } ?? []
        let call = ScriptCall(
            script: stateful?.position ?? scripts.position,
            keys: [keys.log(topic), keys.meta(topic)] + (stateful?.keys(topic, keys, user: asked?.0.user) ?? []),
            arguments: [run] + more, fenceAt: 0)
        link.run(call, lane: nil) { [self] result in
            completion(
                result.mapError { refusal($0, asked?.1) }.flatMap { value in
                    guard let fields = value.elements, fields.count >= 4 else { return .failure(EventLog.nonsense) }
                    return .success(fields)
                })
        }
    }

    private func readPeek(
        _ topic: Topic, _ asker: ReadCaller?, isReported: Bool,
        _ completion: @escaping (Result<TopicSummary, Refusal>) -> Void
    ) {
        let (json, channel) = (limits.answers, keys.channel(topic))
        readPosition(topic, asker, isReported: isReported) { [link] result in
            guard case .success(let fields) = result else {
                return completion(.failure(result.failure ?? EventLog.nonsense))
            }
            let state = fields.count > 4 ? EventLog.state(fields[4], json: json) : nil
            var peek = TopicSummary(position: EventLog.position(fields[0], fields[1]), nodes: 0, state: state)
            let question = Array((link.isSharded ? "SHARDNUMSUB" : "NUMSUB").utf8)
            link.call(RedisCall("PUBSUB", question, channel)) { result in
                guard case .success(let value) = result, let nodes = value.elements?.last?.integer else {
                    return completion(.failure(result.failure?.refusal ?? EventLog.nonsense))
                }
                peek.nodes = nodes
                completion(.success(peek))
            }
        }
    }

    /// Asks whether a user is in the set of a topic's members.
    public func isMember(_ topic: Topic, user: [UInt8], _ completion: @escaping (Result<Bool, Refusal>) -> Void) {
        link.call(RedisCall("SISMEMBER", keys.members(topic), user)) { result in
            completion(
                result.mapError(\.refusal).flatMap { value in
                    guard let found = value.integer else { return .failure(EventLog.nonsense) }
                    return .success(found == 1)
                })
        }
    }

    /// Reads the topics that a topic follows: at most `followsMax` of its set; malformed names are left out.
    public func follows(_ topic: Topic, _ completion: @escaping (Result<[Topic], Refusal>) -> Void) {
        // SRANDMEMBER with a count is SMEMBERS with a bound.
        let command = RedisCall("SRANDMEMBER", keys.follows(topic), EventLog.decimal(limits.followsMax))
        link.call(command) { result in
            completion(
                result.mapError(\.refusal).flatMap { value in
                    guard let members = value.elements else { return .failure(EventLog.nonsense) }
                    return .success(members.compactMap { $0.bytes.flatMap { Topic($0) } })
                })
        }
    }

    // MARK: Idle positions

    /// Renews some of the positions without events that members here still need; called now and then.
    ///
    /// While Redis is unavailable they stay due. A thousand a second leave room for publishes; a renewal later than at
    /// a third of the life still has the rest of it.
    public func sweep() {
        idle.thin(topics: scheduler.statistics.topics.value) { lastDelivered($0)?.offset == 0 }
        for _ in 0..<4 where link.isReady {
            let topics = idle.due(nowMs: reactor.nowMs, max: EventLog.renewedAtOnce) { lastDelivered($0)?.offset == 0 }
            guard !topics.isEmpty else { return }
            // On tagged names a call has keys of one slot.
            let groups = Dictionary(grouping: topics) { keys.layout == .tagged ? HashSlot.of($0.id) : 0 }
            for topics in groups.values {
                let call = ScriptCall(
                    script: scripts.renew, keys: topics.map { keys.meta($0) },
                    arguments: [EventLog.decimal(limits.idlePositionSeconds)])
                // A failed one is made up for by the next.
                link.run(call, lane: nil) { _ in }
            }
        }
    }

    /// Maximum topics of one call of renew.lua.
    static let renewedAtOnce = 64
}
