public import Core
import Operations
public import Reactors
import RedisLink
import Service

/// Asks all gateways a question and gathers the answers; answers the questions of others.
///
/// A question is published on each node's own channel, and its answer returns on the asking node's. There the first
/// shard asks all shards. Thread: the shard's.
public final class FleetService {
    private let context: FleetContext
    private let source: any FleetSource
    private var gathering: FleetGathering
    private var recent = RecentAnswers()
    /// The answers that this shard is making, oldest first.
    private var walks: [(walk: any FleetWalk, number: Int, asker: Int)] = []
    private var isProceeding = false
    private var seal: (secret: [UInt8], seal: FleetSeal)?
    private var sent = 0
    private var timer: ReactorTimer?
    private let reactor: Reactor

    /// Microseconds of one tick for answers.
    private static let stepUs = 200
    /// Questions that a shard gathers or answers at a time; beyond, they are refused.
    private static let openMax = 64
    /// A question that is older is a repetition, milliseconds.
    private static let ageMsMax = 10_000

    /// Answers from `source`.
    public init(_ context: FleetContext, _ source: any FleetSource, _ reactor: Reactor) throws(Errno) {
        self.context = context
        self.source = source
        self.reactor = reactor
        gathering = FleetGathering(own: context.nodeName)
        timer = try ReactorTimer(reactor) { [unowned self] in timerFired() }
    }

    // MARK: Asking

    /// Asks all gateways, or the one that the question names.
    ///
    /// The same question within a moment gets the same answer. Beyond the rate it is refused.
    public func ask(_ question: FleetQuestion, _ completion: @escaping (Result<FleetResult, Refusal>) -> Void) {
        let nowMs = reactor.nowMs
        if question.isShared {
            if let known = recent.answer(question, nowMs: nowMs) { return completion(.success(known)) }
            if gathering.join(question, { completion(.success($0)) }) { return }
        }
        if let waitMs = context.access.waitToAsk(nowMs: nowMs) {
            let text = "more than \(context.limits.fleetQuestionsPerSecond) questions a second to this gateway"
            return completion(.failure(Refusal(.rateLimited, text, retryAfterMs: waitMs)))
        }
        guard gathering.count < FleetService.openMax else {
            return completion(.failure(Refusal(.unavailable, "too many questions wait", retryAfterMs: 1_000)))
        }
        var others = context.others
        if let node = question.node { others = node == context.nodeName ? [] : [node] }
        let shards = question.node == nil || question.node == context.nodeName ? context.shardCount : 0
        let parts = others.map { FleetPart.node($0) } + (0..<shards).map { .shard($0) }
        let number = gathering.begin(
            question, Set(parts), rowsMax: question.limit, isShared: question.isShared,
            deadlineMs: nowMs + context.limits.fleetWaitMs
        ) { [unowned self] result in
            if question.isShared {
                recent.keep(result, nowMs: reactor.nowMs)
                setTimer()
            }
            completion(.success(result))
        }
        setTimer()
        for node in others { publish(question, number, to: node) }
        askShards(question, number, shards)
    }

    private func askShards(_ question: FleetQuestion, _ number: Int, _ count: Int) {
        for shard in 0..<count
        where !context.send(.asked(question, number: number, asker: context.shard), shard) {
            answered(number, by: .shard(shard), nil)
        }
    }

    private func publish(_ question: FleetQuestion, _ number: Int, to node: [UInt8]) {
        let message = FleetMessage.question(question, number: number, wallMs: context.clock.wallMs)
        let isSent = publish(message, to: FleetSeal.Place(node: node, shard: 0)) { [weak self] receivers in
            if (receivers ?? 0) == 0 { self?.answered(number, by: .node(node), nil) }
        }
        if !isSent { answered(number, by: .node(node), nil) }
    }

    /// Publishes on a node's channel; reports the number of receivers, `nil` when Redis did not answer.
    private func publish(
        _ message: FleetMessage, to place: FleetSeal.Place, _ completion: @escaping (Int?) -> Void = { _ in }
    ) -> Bool {
        guard context.link.isReady, let seal = currentSeal() else { return false }
        sent += 1
        let text = seal.close(message, to: place, number: sent)
        context.link.call(RedisCall("PUBLISH", context.keys.node(place.node), text)) { result in
            completion((try? result.get())?.integer)
        }
        return true
    }

    private func currentSeal() -> FleetSeal? {
        guard let secret = context.access.secret else { return nil }
        if let seal, seal.secret == secret { return seal.seal }
        let made = FleetSeal(secret: secret, own: FleetSeal.Place(node: context.nodeName, shard: context.shard))
        seal = (secret, made)
        return made
    }

    private func answered(_ number: Int, by part: FleetPart, _ answer: FleetAnswer?) {
        gathering.answered(number, by: part, answer)?.tell()
    }

    // MARK: Messages

    /// Takes a message on the node's channel for this shard; others are counted as refused.
    public func received(_ bytes: [UInt8]) {
        guard let (from, text) = currentSeal()?.open(bytes) else { return context.statistics.relaysRefused.add(1) }
        // A node of a later version may ask what this one does not know.
        guard let message = FleetMessage(text) else { return }
        switch message {
        case .question(let question, let number, let wallMs):
            guard abs(context.clock.wallMs - wallMs) <= FleetService.ageMsMax, gathering.count < FleetService.openMax,
                context.access.mayTake(nowMs: reactor.nowMs)
            else { return }
            answer(question, number, to: from)
        case .answer(let text, let number):
            let part = FleetPart.node(from.node)
            guard let kind = gathering.kind(of: number, awaiting: part) else { return }
            answered(number, by: part, FleetAnswer(text, kind))
        }
    }

    /// Gathers the answers of this node's shards for another node.
    private func answer(_ question: FleetQuestion, _ number: Int, to place: FleetSeal.Place) {
        let parts = (0..<context.shardCount).map { FleetPart.shard($0) }
        // The answer must be back before the asker stops waiting.
        let deadlineMs = reactor.nowMs + context.limits.fleetWaitMs * 4 / 5
        let own = gathering.begin(
            question, Set(parts), rowsMax: question.rowsPerPart, isShared: false, deadlineMs: deadlineMs
        ) { [unowned self] result in
            _ = publish(.answer(result.answer.text, number: number), to: place)
        }
        setTimer()
        askShards(question, own, context.shardCount)
    }

    /// Takes a message of a shard of this node.
    public func take(_ order: FleetOrder) {
        switch order {
        case .asked(let question, let number, let asker):
            guard walks.count < FleetService.openMax else { return }
            walks.append((source.begin(question), number, asker))
            proceed()
        case .answered(let answer, let number, let shard): answered(number, by: .shard(shard), answer)
        case .proceed:
            isProceeding = false
            proceed()
        }
    }

    // MARK: Time

    /// Works on answers for a moment, and asks for the next tick when some are left.
    private func proceed() {
        let endUs = Clock.monotonicUs() + FleetService.stepUs
        while !isProceeding, let first = walks.first {
            if let answer = first.walk.step() {
                walks.removeFirst()
                _ = context.send(.answered(answer, number: first.number, by: context.shard), first.asker)
            }
            if Clock.monotonicUs() >= endUs { break }
        }
        guard !walks.isEmpty, !isProceeding else { return }
        isProceeding = context.send(.proceed, context.shard)
        if !isProceeding { walks.removeAll() }
    }

    private func timerFired() {
        for finished in gathering.expire(nowMs: reactor.nowMs) { finished.tell() }
        recent.drop(nowMs: reactor.nowMs)
        setTimer()
    }

    private func setTimer() {
        let next = [gathering.nextMs, recent.endMs].compactMap(\.self).min()
        if let next { timer?.set(atMs: next) } else { timer?.clear() }
    }
}
