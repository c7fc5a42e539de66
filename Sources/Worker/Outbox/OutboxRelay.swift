import Commands
import Configuration
import Core
import Reactors
import RedisLink
import Rights
import Service

/// Relays the outbox of scripts: events to other topics, calls of other commands.
///
/// One worker relays at a time, by lease. Should two overlap, nothing happens twice and nothing is reordered. An entry
/// is done under its own id, and the next one of its payer for the same target begins only once it is done. An entry is
/// deleted when it is done; one that can never be done is moved to a stream of its own. Thread: the worker's.
final class OutboxRelay {
    typealias Queue = RelayQueue<OutboxEntry.Part>

    let parts: WorkerParts
    let link: any RedisCalls
    private let runner: CommandRunner
    let reactor: Reactor
    private let figures: WorkerFigures
    private var epochs = EpochSource()
    var queue: Queue
    private var isHeld = false
    /// The number of restarts; actions begun before the last one no longer count.
    var generation = 0
    var streams: OutboxStreams
    /// The number of entries to read at once.
    var batch = RelayBatch()
    private var budget: RelayBudget
    /// Entries that are done and not deleted yet, by stream: id and payer of each in turn.
    private var done: [OutboxStream: [[UInt8]]] = [:]

    /// Unknown commands that were logged.
    private var unknown: Set<String> = []

    private static let unknownMax = 100
    /// The most entries that one script deletes.
    private static let deletesMax = 200
    /// The most entries of one payer that are in flight: enough to keep Redis busy, few enough to let others between.
    private static let payerInFlightMax = 32
    /// Entries in hand that a payer's own entries caused, from which on the payer's own entries wait.
    private static let followUpsMax = 64

    init(parts: WorkerParts, link: any RedisCalls, runner: CommandRunner, reactor: Reactor, figures: WorkerFigures) {
        self.parts = parts
        self.link = link
        self.runner = runner
        self.reactor = reactor
        self.figures = figures
        queue = OutboxRelay.queue(parts.limits)
        streams = OutboxRelay.streams(parts)
        budget = RelayBudget(percent: parts.limits.worker.relayUsersPercent)
    }

    private static func streams(_ parts: WorkerParts) -> OutboxStreams {
        OutboxStreams(
            slots: parts.keys.outboxSlots, sweepMs: parts.limits.worker.relaySweepMs,
            window: parts.limits.worker.relayWindowMax)
    }

    private static func queue(_ limits: Limits) -> Queue {
        Queue(
            inFlightMax: limits.worker.relaysMax, retryMinMs: 50, retryMaxMs: 5_000,
            payerInFlightMax: OutboxRelay.payerInFlightMax,
            followUpsMax: min(OutboxRelay.followUpsMax, limits.worker.relayWindowMax))
    }

    /// The number of parts that were read and are not done.
    var waitingCount: Int { queue.count }

    /// The time of the next action.
    var nextMs: Int {
        guard isHeld, link.isReady else { return Int.max }
        let read = queue.count >= parts.limits.worker.relayWindowMax ? Int.max : streams.nextMs
        let users = queue.hasUsers && budget.pausesUntilMs > reactor.nowMs ? budget.pausesUntilMs : Int.max
        return min(read, users, queue.nextDueMs ?? Int.max)
    }

    /// The lease of the outbox was gained.
    func hold() {
        isHeld = true
        restart()
    }

    /// The lease of the outbox was lost.
    func leave() {
        isHeld = false
        restart()
    }

    /// Reads from the start again: Redis may have lost entries, or another worker may have done them meanwhile.
    func restart() {
        generation += 1
        queue = OutboxRelay.queue(parts.limits)
        budget = RelayBudget(percent: parts.limits.worker.relayUsersPercent)
        done = [:]
        streams = OutboxRelay.streams(parts)
    }

    /// An entry was added to the stream of that name.
    ///
    /// Any other name stands for the first stream of keys without an id.
    func woken(_ name: [UInt8]) {
        streams.woken(
            parts.keys.outboxStream(name)
                ?? OutboxStream(slot: parts.keys.commonSlot, lane: 0, isFollowUp: false))
    }

    /// Wake-ups may have been missed.
    func mayHaveMissed() {
        streams.lookAtAll()
    }

    /// The slots known to have entries; `nil` without the lease.
    var activeSlots: Set<Int>? { isHeld ? streams.activeSlots : nil }

    /// Begins everything that may begin now; `isLeased` is called again before each entry.
    func work(nowMs: Int, isLeased: () -> Bool) {
        guard isHeld, link.isReady else { return }
        while isLeased(), let entry = queue.next(nowMs: nowMs, usersMay: budget.admits(nowMs: nowMs)) {
            if !entry.line.payer.isService { budget.began(nowMs: nowMs) }
            begin(entry)
            guard link.isReady else { return }
        }
        delete()
        while queue.count < parts.limits.worker.relayWindowMax, let step = streams.next(nowMs: nowMs) {
            switch step {
            case .read(let stream, let step): read(stream, step)
            case .look(let slots): look(slots)
            }
        }
    }

    /// The target that orders the entries of one payer: the topic of an event or of members, the primary key of a call.
    func target(_ part: OutboxEntry.Part) -> UInt64 {
        switch part.item {
        case .event(let topic, _, _), .member(let topic, _, _): StableHash.of(topic.bytes)
        case .callOut(let service, _): StableHash.of(Array(service.utf8))
        case .call(let name, let arguments):
            switch bound(name, arguments) {
            case .success(let (descriptor, bound)): StableHash.of(home(descriptor, bound)?.bytes ?? Array(name.utf8))
            case .failure: StableHash.of(part.entry.id)
            }
        case .unreadable: StableHash.of(part.entry.id)
        }
    }

    private func home(_ descriptor: CommandDescriptor, _ bound: BoundArguments) -> Topic? {
        descriptor.home?.topic { bound.value($0, descriptor) }
    }

    // MARK: Doing

    private func bound(_ name: String, _ arguments: [UInt8]) -> Result<(CommandDescriptor, BoundArguments), Refusal> {
        guard let descriptor = parts.library.catalogue.command(named: name) else {
            return .failure(Refusal(.notFound, "there is no such command"))
        }
        guard descriptor.rights.roles.contains(.worker) else {
            return .failure(Refusal(.forbidden, "the command does not allow worker"))
        }
        guard let json = try? JSON(parsing: arguments, limits: parts.limits.answers) else {
            return .failure(Refusal(.badRequest, "the arguments are no JSON"))
        }
        do throws(Refusal) {
            return .success((descriptor, try ArgumentBinder.bind(descriptor, body: json.root, caller: .worker)))
        } catch {
            return .failure(error)
        }
    }

    private func begin(_ queued: Queue.Entry) {
        let part = queued.item
        let current = generation
        switch part.item {
        case .unreadable(let reason):
            give(up: queued, because: reason)
        case .event(let topic, let event, let data):
            publish(topic, PublishCall.Event(event, data: data, id: part.operation.map { .outbox($0) }), queued)
        case .member(let topic, let user, let kind):
            setMember(MembersCall(topic, user: user, kind), queued)
        case .callOut(let service, let fields):
            callOut(service, fields + [Array("p".utf8), part.entry.payer], queued)
        case .call(let name, let arguments):
            switch bound(name, arguments) {
            case .failure(let refusal):
                if parts.library.catalogue.command(named: name) == nil { tellUnknown(name) }
                give(up: queued, because: refusal.message)
            case .success(let (descriptor, bound)):
                let operation = part.operation.map { OperationID.named($0) }
                runner.run(descriptor, bound, caller: .worker(for: part.entry.payer), operation: operation) {
                    [weak self] outcome in
                    guard let self, generation == current else { return }
                    if outcome == .stale { return retry(queued) }
                    switch outcome.result {
                    case .success: succeeded(queued)
                    case .failure(let refusal) where refusal.isUnavailable: retry(queued)
                    case .failure(let refusal): give(up: queued, because: "\(refusal.name): \(refusal.message)")
                    }
                }
            }
        }
    }

    /// Logs once for each name that its calls are lost: most likely the gateways have scripts that this worker lacks.
    private func tellUnknown(_ name: String) {
        guard unknown.count < OutboxRelay.unknownMax, unknown.insert(String(name.prefix(200))).inserted else { return }
        parts.log.write(
            .warn, "calls of a command that this worker does not have are given up",
            [
                ("command", String(name.prefix(200))),
                (
                    "remedy",
                    "start the worker with the gateways' --packs and --scripts; what was given up is in #outbox-dead"
                ),
            ])
    }

    private func publish(_ topic: Topic, _ event: PublishCall.Event, _ queued: Queue.Entry) {
        let namespace = String(decoding: topic.namespace, as: UTF8.self)
        guard let policy = parts.commands.policies[namespace] else {
            return give(up: queued, because: "there is no namespace \(namespace)")
        }
        guard (try? JSON(parsing: event.data, limits: parts.limits.answers))?.root.kind == .object else {
            return give(up: queued, because: "the data is no JSON object")
        }
        let meta = parts.keys.meta(topic)
        guard let run = link.fence(of: meta) else { return retry(queued) }
        let stamp = CommandCallBuilder.CallStamp(
            nowMs: parts.commands.nowMs(), run: run, epoch: epochs.next(), random: [])
        let call = PublishCall(topic, [event]).call(
            parts.publish, keys: parts.keys, meta: meta, policy: policy, seenSeconds: parts.limits.relayedSeconds,
            stamp, top: nil)
        let current = generation
        link.run(call, lane: nil) { [weak self] result in
            guard let self, generation == current else { return }
            if case .success(let value) = result,
                PublishCall.PublishResult.read(value, count: 1)?.first?.outcome == .conflict
            {
                return give(up: queued, because: "its id was used for another event")
            }
            ended(result, queued)
        }
    }

    private func setMember(_ change: MembersCall, _ queued: Queue.Entry) {
        let current = generation
        change.make(parts.setMember, on: link, keys: parts.keys, membersMax: parts.limits.membersMax) {
            [weak self] result in
            guard let self, generation == current else { return }
            if case .success(let value) = result, value.integer == -1 {
                return give(up: queued, because: "the topic has as many members as it may")
            }
            ended(result, queued)
        }
    }

    /// Adds a call of an outside service to the couriers' stream, once there is room.
    ///
    /// Should this worker end before the entry is deleted, the call is there twice, under one id.
    private func callOut(_ service: String, _ fields: [[UInt8]], _ queued: Queue.Entry) {
        let stream = parts.keys.calls(of: service)
        let current = generation
        link.call(RedisCall("XLEN", stream)) { [weak self] result in
            guard let self, generation == current else { return }
            if case .failure = result { return ended(result, queued) }
            guard let waiting = (try? result.get())?.integer, waiting < parts.limits.callsMax else {
                return retry(queued)
            }
            var command = RedisCall("XADD", stream, Array("*".utf8))
            for field in fields { command.append(field) }
            link.call(command) { [weak self] result in
                guard let self, generation == current else { return }
                ended(result, queued)
            }
        }
    }

    /// Whether a retry cannot help: the entry or the key is at fault.
    ///
    /// A missing right does not count, since the operator can grant it.
    private static func isLasting(_ failure: RedisFailure) -> Bool {
        switch failure.kind {
        case .wrongType, .script, .tooLarge, .crossSlot: true
        // BADEPOCH asks for another candidate, which the next attempt supplies.
        case .other: !failure.detail.hasPrefix("BADEPOCH")
        default: false
        }
    }

    private func ended(_ result: Result<RESPValue, RedisFailure>, _ queued: Queue.Entry) {
        switch result {
        case .success: succeeded(queued)
        case .failure(let failure) where OutboxRelay.isLasting(failure):
            give(up: queued, because: "\(failure.metricLabel): \(failure.detail)")
        case .failure: retry(queued)
        }
    }

    private func succeeded(_ entry: Queue.Entry) {
        figures.relayed += 1
        finished(entry)
    }

    private func retry(_ entry: Queue.Entry) {
        if !entry.line.payer.isService { budget.ended(nowMs: reactor.nowMs) }
        queue.failed(entry.line, nowMs: reactor.nowMs)
    }

    /// Copies an entry to the dead ones, and only then deletes it.
    private func give(up queued: Queue.Entry, because reason: String) {
        let part = queued.item
        let fields = part.fields
        var command = RedisCall("XADD", parts.keys.outboxDead, Array("MAXLEN".utf8), Array("~".utf8))
        command.append(decimal: parts.limits.worker.outboxDeadMax)
        for text in ["*", "id"] { command.append(Array(text.utf8)) }
        command.append(part.entry.id)
        command.append("reason")
        command.append(Array(reason.utf8.prefix(500)))
        for field in fields { command.append(field) }
        // A stream takes fields and values in pairs.
        if fields.count % 2 != 0 { command.append("") }
        let current = generation
        link.call(command) { [weak self] result in
            guard let self, generation == current else { return }
            guard case .success = result else { return retry(queued) }
            figures.dead += 1
            parts.log.write(
                .error, "an entry of the outbox was given up",
                [
                    ("entry", String(decoding: part.entry.id, as: UTF8.self)), ("reason", String(reason.prefix(200))),
                    ("subject", part.subject), ("bytes", "\(part.byteCount)"),
                ])
            finished(queued)
        }
    }

    private func finished(_ queued: Queue.Entry) {
        if !queued.line.payer.isService { budget.ended(nowMs: reactor.nowMs) }
        let entry = queued.item.entry
        if let payer = streams.finished(entry.stream, entry.place) {
            done[entry.stream, default: []] += [entry.id, payer]
        }
        queue.finished(queued.line)
    }

    /// Deletes entries that are done.
    ///
    /// If the deletion is lost, the entries are done again, without effect.
    private func delete() {
        for (stream, words) in done {
            let keys = [parts.keys.outbox(stream), parts.keys.outboxPayers(stream)]
            for start in stride(from: 0, to: words.count, by: OutboxRelay.deletesMax * 2) {
                let some = words[start..<min(start + OutboxRelay.deletesMax * 2, words.count)]
                link.run(ScriptCall(script: parts.outboxDone, keys: keys, arguments: Array(some)), lane: nil) { _ in }
            }
        }
        done = [:]
    }
}
