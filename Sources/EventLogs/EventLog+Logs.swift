import Commands
public import Core
import Operations
import Reactors
import RedisLink
public import Rights
public import Topics

/// The reads of logs for joining clients and for repairs, and their charges.
extension EventLog {
    /// Reads position, events and state for joining clients or a repair; creates the position when there is none.
    ///
    /// It precedes the reads of callers, and waits only while too much is in flight. Answers arrive in the order of
    /// their requests.
    public func read(
        _ topic: Topic, _ order: LogRead.Order, since: Position?, _ completion: @escaping LogRead.Completion
    ) {
        let payer = order == .newest ? joinPayers.removeValue(forKey: topic) : nil
        read(topic, order, since: since, nil, payer, completion)
    }

    /// Whether a `@subscribe` script decides who may join the topic.
    public func isPersonal(_ topic: Topic) -> Bool { scripts.isPersonal(topic) }

    /// Reads a personal topic for one joining caller; the script sees the caller, whose budget is charged.
    public func read(
        _ topic: Topic, for asker: ReadCaller, since: Position?, _ completion: @escaping LogRead.Completion
    ) {
        read(topic, .newest, since: since, asker, asker.payer, completion)
    }

    private func read(
        _ topic: Topic, _ order: LogRead.Order, since: Position?, _ asker: ReadCaller?, _ payer: Payer?,
        _ completion: @escaping LogRead.Completion
    ) {
        // Clients have rarely missed much; the actual cost is charged afterwards.
        let weightUs = order == .newest ? scripts.positionUs(topic) : repairWeight.us
        // Only joining clients receive the state. The same call reads it, which then has room for fewer events.
        let stateful = order == .newest ? scripts.stateful(topic) : nil
        let share = stateful == nil ? 1 : 4
        let pages = LogPages(
            order, since: since,
            total: LogPages.Bounds(events: limits.recoveryEventsMax, bytes: limits.recoveryBytesMax),
            page: LogPages.Bounds(
                events: max(1, limits.logPageEventsMax / share), bytes: limits.logPageBytesMax / share))
        let read = Read(
            topic: topic, stateful: stateful, asker: asker, payer: payer,
            completion: turns.turn(of: topic, completion))
        send(read, pages, before: 0, weightUs: weightUs)
    }

    /// The constant part of a read over its pages.
    private struct Read {
        let topic: Topic
        let stateful: EventLogScripts.Stateful?
        /// The joining caller, on a topic whose script decides who may join.
        let asker: ReadCaller?
        let payer: Payer?
        let completion: LogRead.Completion
    }

    /// Sends the call of one page once there is room for it; then those of the others.
    private func send(_ read: Read, _ pages: LogPages, before: Int, weightUs: Int) {
        scheduler.addOwn(weightUs: weightUs, refuse: { read.completion(.failure($0)) }) { [self] over in
            page(read, pages, before: before) { [self] result in
                over()
                switch result {
                case .failure(let refusal): read.completion(.failure(refusal))
                case .success(let answer):
                    if pages.order == .oldest { repairWeight.took(eventsUs: eventsUs(answer)) }
                    var pages = pages
                    if let before = pages.take(answer) {
                        // The read is now known to need many pages.
                        send(read, pages, before: before, weightUs: scripts.logUs)
                    } else {
                        read.completion(pages.whole.map { .success($0) } ?? .failure(EventLog.nonsense))
                    }
                }
            }
        }
    }

    private func page(_ read: Read, _ pages: LogPages, before: Int, _ completion: @escaping LogRead.Completion) {
        let topic = read.topic
        guard let policy = access.policy(of: topic), let run = link.fence(of: keys.meta(topic)) else {
            return completion(.failure(.storeUnavailable))
        }
        var callKeys = [keys.log(topic), keys.meta(topic)]
        var script = scripts.subscribe
        if before == 0, let stateful = read.stateful {
            script = stateful.subscribe
            callKeys += stateful.keys(topic, keys, user: read.asker?.caller.user)
        }
        let candidate = epochs.next()
        var arguments: [[UInt8]] = [
            candidate, run, top(topic)?.fenceText ?? [], EventLog.decimal(wallMs()),
            EventLog.decimal(policy.positionSeconds), pages.since?.epoch ?? [],
            EventLog.decimal(pages.since?.offset ?? 0),
            Array(pages.order.rawValue.utf8), EventLog.decimal(pages.next.events), EventLog.decimal(pages.next.bytes),
            EventLog.decimal(limits.idlePositionSeconds), EventLog.decimal(before),
        ]
        let personal = before == 0 ? read.stateful?.personal : nil
        if personal != nil {
            // Without a caller the script is called for one without an identity, and admits no client.
            let caller = read.asker?.caller ?? .nobody
            arguments += StateProvider.arguments(topic, caller, nowMs: wallMs())
        }
        let json = limits.answers
        let call = ScriptCall(script: script, keys: callKeys, arguments: arguments, fenceAt: 1)
        link.run(call, lane: nil) { [self] result in
            completion(
                result.mapError { refusal($0, personal) }.flatMap { value in
                    guard let answer = EventLog.answer(value, pages.order, before: before, json: json) else {
                        return .failure(EventLog.nonsense)
                    }
                    known.add(topic, answer.position, nowMs: reactor.nowMs)
                    if let payer = read.payer { charge(payer, answer, isNew: answer.position.epoch == candidate) }
                    if answer.position.offset == 0 { idle.add(topic, nowMs: reactor.nowMs) }
                    return .success(answer)
                })
        }
    }

    /// The reason of a failed read: a `@subscribe` script's refusal, or the fault of Redis or the script.
    func refusal(_ failure: RedisFailure, _ personal: StateProvider?) -> Refusal {
        guard let personal, failure.kind == .other || failure.kind == .script else { return failure.refusal }
        if let refusal = personal.refusal(failure.detail) { return refusal }
        onScriptFault(personal.scriptName, failure.detail)
        return Refusal(.internalError, "the script of this topic failed; the gateway's log tells why")
    }

    /// Charges the cost of a page beyond the join's charge: the missed events, and a new position.
    private func charge(_ payer: Payer, _ answer: LogRead.Answer, isNew: Bool) {
        budgets.charge(payer, us: eventsUs(answer) + (isNew ? limits.newPositionUs : 0), nowMs: reactor.nowMs)
    }

    /// The cost of a page's events for Redis, microseconds.
    private func eventsUs(_ answer: LogRead.Answer) -> Int {
        let bytes = answer.events.reduce(0) { $0 + $1.data.count + LogPages.eventBytes }
        return scripts.eventsUs(answer.events.count, bytes: bytes, limits)
    }

    /// Charges a join to its payer; returns a refusal when that is impossible.
    ///
    /// A join that shares the read of an earlier one costs nothing: `isCoalesced`.
    public func payJoin(_ topic: Topic, payer: Payer, isCoalesced: Bool) -> Refusal? {
        if isCoalesced { return nil }
        if let refusal = budgets.pay(payer, us: scripts.positionUs(topic), nowMs: reactor.nowMs) { return refusal }
        // A join of a personal topic has a read of its own, charged to its payer.
        guard !isPersonal(topic) else { return nil }
        // Joins that are given up before their read leave their payers here.
        if joinPayers.count >= limits.knownPositionsMax { joinPayers.removeAll() }
        joinPayers[topic] = payer
        return nil
    }
}
