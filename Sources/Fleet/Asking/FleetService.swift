public import Core
import Operations
public import Reactors
import RedisLink
import Service
import Transports

/// Asks all gateways a question and gathers the answers; answers the questions of others.
///
/// A question is published on each node's own channel, and its answer returns on the asking node's. There the first
/// shard asks all shards; the asking node does the same for its own part. Thread: the shard's.
public final class FleetService {
    private let context: FleetContext
    private let source: any FleetSource
    private var gathering = FleetGathering()
    private var recent = RecentAnswers()
    /// The answers that this shard is making, oldest first.
    private var walks: [(walk: any FleetWalk, number: Int, asker: Int)] = []
    private var isProceeding = false
    private var seal: NodeSeal?
    private var timer: ReactorTimer?
    private let reactor: Reactor

    /// Microseconds of one tick for answers.
    private static let stepUs = 200
    /// Questions that a shard gathers or answers at a time; beyond, they are refused.
    private static let openMax = 128
    /// The same with erasures, which are seldom and must not be lost.
    private static let erasuresMax = 2_048
    /// A question that is older is a repetition, milliseconds.
    private static let ageMsMax = 10_000
    /// Time for which callers that ask the same get one answer, milliseconds.
    public static let answerLifeMs = RecentAnswers.lifeMs
    /// Bytes of a message on a node's channel; a larger one is not read.
    public static let messageBytesMax = 3 * FleetAnswer.bytesMax

    /// Answers from `source`.
    public init(_ context: FleetContext, _ source: any FleetSource, _ reactor: Reactor) throws(Errno) {
        self.context = context
        self.source = source
        self.reactor = reactor
        timer = try ReactorTimer(reactor) { [unowned self] in timerFired() }
    }

    // MARK: Asking

    /// Counts a question of an operator; returns the refusal beyond the rate of questions.
    public func admit() -> Refusal? {
        guard let waitMs = context.access.waitToAsk(nowMs: reactor.nowMs) else { return nil }
        context.statistics.fleetRefused.add(1)
        let text = "more than \(context.limits.fleetQuestionsPerSecond) questions a second to this gateway"
        return Refusal(.rateLimited, text, retryAfterMs: waitMs)
    }

    /// Counts a caller that gets the answer to another's question.
    public func noteShared() { context.statistics.fleetShared.add(1) }

    /// Asks all gateways, or the one that the question names.
    ///
    /// The same question within a moment gets the same answer. Beyond the rate it is refused.
    public func ask(_ question: FleetQuestion, _ completion: @escaping (Result<FleetResult, Refusal>) -> Void) {
        let nowMs = reactor.nowMs
        if let known = recent.answer(question, nowMs: nowMs) {
            noteShared()
            return completion(.success(known))
        }
        if gathering.join(question, { completion(.success($0)) }) { return noteShared() }
        if question.isLimited, let refusal = admit() { return completion(.failure(refusal)) }
        guard hasRoom(for: question) else {
            context.statistics.fleetRefused.add(1)
            return completion(.failure(Refusal(.unavailable, "too many questions wait", retryAfterMs: 1_000)))
        }
        let own = context.address.node
        let nodes = question.node.map { [$0] } ?? context.others + [own]
        let number = gathering.begin(
            question, .nodes(nodes), rowsMax: question.limit, deadlineMs: nowMs + context.limits.fleetWaitMs
        ) { [unowned self] result in
            let outcome = result.incomplete.isEmpty ? context.statistics.fleetWhole : context.statistics.fleetPartial
            outcome.add(1)
            if question.isShared {
                recent.keep(result, nowMs: reactor.nowMs)
                setTimer()
            }
            completion(.success(result))
        }
        setTimer()
        for node in nodes where node != own { publish(question, number, to: node) }
        guard nodes.contains(own) else { return }
        askShards(question) { [unowned self] in answered(number, by: .node(own), .success($0)) }
    }

    private func hasRoom(for question: FleetQuestion) -> Bool {
        gathering.count < (question.isLimited ? FleetService.openMax : FleetService.erasuresMax)
    }

    /// Gathers the answer of this node.
    private func askShards(_ question: FleetQuestion, _ completion: @escaping (FleetAnswer) -> Void) {
        let shards = question.shards(of: context.shardCount)
        // The answer must be back before the asker stops waiting.
        let deadlineMs = reactor.nowMs + context.limits.fleetWaitMs * 4 / 5
        let number = gathering.begin(
            question, .shards(shards), rowsMax: question.rowsPerPart, deadlineMs: deadlineMs
        ) { completion($0.answer) }
        setTimer()
        for shard in shards
        where !context.send(.asked(question, number: number, asker: context.address.shard), shard) {
            answered(number, by: .shard(shard), .failure(.busy))
        }
        gathering.finishIfWhole(number)?.complete()
    }

    private func publish(_ question: FleetQuestion, _ number: Int, to node: [UInt8]) {
        let message = FleetMessage.question(question, number: number, wallMs: context.clock.wallMs)
        publish(message, to: ShardAddress(node: node, shard: 0)) { [weak self] receivers in
            guard receivers != nil else { self?.answered(number, by: .node(node), .failure(.unsent)); return }
            if receivers == 0 { self?.answered(number, by: .node(node), .failure(.gone)) }
        }
    }

    /// Publishes on a node's channel; reports the number of receivers, `nil` when Redis did not take the message.
    private func publish(
        _ message: FleetMessage, to home: ShardAddress, _ completion: @escaping (Int?) -> Void = { _ in }
    ) {
        guard context.link.isReady, let text = sealed(message, to: home) else { return completion(nil) }
        context.link.call(RedisCall("PUBLISH", context.keys.node(home.node), text)) { result in
            completion((try? result.get())?.integer)
        }
    }

    private func sealed(_ message: FleetMessage, to home: ShardAddress) -> [UInt8]? {
        refreshSeal()
        return seal?.close(message.text, to: home)
    }

    private func refreshSeal() {
        guard let secret = context.access.secret else { return }
        if seal == nil { seal = NodeSeal(.fleet, secret: secret, of: context.address) } else { seal?.use(secret) }
    }

    private func answered(_ number: Int, by part: FleetPart, _ answer: Result<FleetAnswer, FleetFault>) {
        gathering.answered(number, by: part, answer)?.complete()
    }

    // MARK: Messages

    /// Takes a message on the node's channel for this shard; others are counted as refused.
    public func received(_ bytes: [UInt8]) {
        refreshSeal()
        guard let envelope = NodeEnvelope(bytes), let text = seal?.open(envelope) else {
            return context.statistics.relaysRefused.add(1)
        }
        let from = envelope.from
        switch FleetMessage(text) {
        case .question(let question, let number, let wallMs):
            if let fault = fault(question, askedMs: wallMs) { return refuse(number, fault, to: from) }
            askShards(question) { [unowned self] in publish(.answer($0.text, number: number), to: from) }
        case .answer(let text, let number):
            guard let kind = gathering.kind(of: number, awaiting: .node(from.node)) else { return }
            let answer = FleetAnswer(text, kind)
            answered(number, by: .node(from.node), answer.map { .success($0) } ?? .failure(.version))
        case .refusal(let fault, let number): answered(number, by: .node(from.node), .failure(fault))
        case nil:
            if let number = FleetMessage.number(ofQuestion: text) { refuse(number, .version, to: from) }
        }
    }

    /// The cause for which another node's question is not answered; `nil` when it is.
    private func fault(_ question: FleetQuestion, askedMs: Int) -> FleetFault? {
        guard abs(context.clock.wallMs - askedMs) <= FleetService.ageMsMax else { return .clock }
        guard hasRoom(for: question) else { return .busy }
        return !question.isLimited || context.access.mayTake(nowMs: reactor.nowMs) ? nil : .busy
    }

    private func refuse(_ number: Int, _ fault: FleetFault, to home: ShardAddress) {
        context.statistics.fleetDeclined.add(1)
        publish(.refusal(fault, number: number), to: home)
    }

    /// Takes a message of a shard of this node.
    public func take(_ order: FleetOrder) {
        switch order {
        case .asked(let question, let number, let asker):
            guard walks.count < (question.isLimited ? FleetService.openMax : FleetService.erasuresMax) else {
                return give(.failure(.busy), number, to: asker)
            }
            walks.append((source.begin(question), number, asker))
            proceed()
        case .answered(let answer, let number, let shard): answered(number, by: .shard(shard), answer)
        case .proceed:
            isProceeding = false
            proceed()
        }
    }

    /// Sends an answer to the shard that asked; when its mailbox is full, that shard waits in vain.
    private func give(_ answer: Result<FleetAnswer, FleetFault>, _ number: Int, to asker: Int) {
        _ = context.send(.answered(answer, number: number, by: context.address.shard), asker)
    }

    // MARK: Time

    /// Works on answers for a moment, and asks for the next tick when some are left.
    private func proceed() {
        let endUs = Clock.monotonicUs() + FleetService.stepUs
        while !isProceeding, let first = walks.first {
            if let answer = first.walk.step() {
                walks.removeFirst()
                give(.success(answer), first.number, to: first.asker)
            }
            if Clock.monotonicUs() >= endUs { break }
        }
        guard !walks.isEmpty, !isProceeding else { return }
        isProceeding = context.send(.proceed, context.address.shard)
        guard !isProceeding else { return }
        for walk in walks { give(.failure(.busy), walk.number, to: walk.asker) }
        walks.removeAll()
    }

    private func timerFired() {
        for finished in gathering.expire(nowMs: reactor.nowMs) { finished.complete() }
        recent.drop(nowMs: reactor.nowMs)
        setTimer()
    }

    private func setTimer() {
        let next = [gathering.nextMs, recent.endMs].compactMap(\.self).min()
        if let next { timer?.set(atMs: next) } else { timer?.clear() }
    }
}
