import Commands
import Configuration
import Core
import Reactors
import RedisLink
import Rights
import Service

/// Passes on what scripts put into the outbox: events to other topics, calls of other commands.
///
/// One worker does it at a time, by lease. Should two overlap, nothing happens twice and nothing is overtaken: an entry
/// is done under an id of its own, and its successor in the lane is begun only when it was done. An entry is deleted
/// when it was done; one that can never be done goes to a stream of its own. Thread: the worker's.
final class OutboxRelay {
    private typealias Queue = RelayQueue<OutboxEntry.Part>

    private let parts: WorkerParts
    private let link: CallLink
    private let runner: CommandRunner
    private let reactor: Reactor
    private let figures: WorkerFigures
    private var epochs = EpochSource()
    private var queue: Queue
    private var isHeld = false
    /// Counts the times the work began anew; what was begun before no longer counts.
    private var generation = 0
    private var isReading = false
    private var readMs = Int.min
    /// The last entry that was read.
    private var last: [UInt8]?
    /// What is done is deleted at the end of the tick.
    private var book = OutboxBook()

    /// Commands that this worker does not have, as far as the log was told.
    private var unknown: Set<String> = []

    private static let batch = 256
    private static let unknownMax = 100

    init(parts: WorkerParts, link: CallLink, runner: CommandRunner, reactor: Reactor, figures: WorkerFigures) {
        self.parts = parts
        self.link = link
        self.runner = runner
        self.reactor = reactor
        self.figures = figures
        queue = OutboxRelay.queue(parts.limits)
    }

    private static func queue(_ limits: Limits) -> Queue {
        Queue(inFlightMax: limits.relaysMax, retryMinMs: 50, retryMaxMs: 5_000)
    }

    /// How many parts of entries were read and are not done.
    var waitingCount: Int { queue.count }

    /// When there is something to do.
    var nextMs: Int {
        guard isHeld, link.isReady else { return Int.max }
        let read = isReading || queue.count >= parts.limits.relayWindowMax ? Int.max : readMs
        return min(read, queue.nextDueMs ?? Int.max)
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

    /// Reads from the start again: Redis may have lost what it had, or another may have done it meanwhile.
    func restart() {
        generation += 1
        queue = OutboxRelay.queue(parts.limits)
        book = OutboxBook()
        last = nil
        isReading = false
        readMs = Int.min
    }

    /// Something was added.
    func woken() {
        readMs = Int.min
    }

    /// Begins what can be done; `isLeased` is asked again before each entry.
    func work(nowMs: Int, isLeased: () -> Bool) {
        guard isHeld, link.isReady else { return }
        while isLeased(), let entry = queue.next(nowMs: nowMs) {
            begin(entry)
            guard link.isReady else { return }
        }
        delete()
        guard !isReading, queue.count < parts.limits.relayWindowMax, readMs <= nowMs else { return }
        read(nowMs: nowMs)
    }

    // MARK: Reading

    private func read(nowMs: Int) {
        isReading = true
        readMs = nowMs + parts.limits.relaySweepMs
        // With nothing left to do the start is as good a place, and finds what an earlier run left.
        if queue.count == 0 { last = nil }
        var command = RedisCall("XRANGE", parts.keys.outbox)
        command.append(last.map { [UInt8(ascii: "(")] + $0 } ?? [UInt8(ascii: "-")])
        command.append("+")
        command.append("COUNT")
        command.append(decimal: min(OutboxRelay.batch, parts.limits.relayWindowMax))
        let current = generation
        link.call(command) { [weak self] result in
            guard let self, generation == current else { return }
            isReading = false
            guard case .success(let reply) = result else { return }
            take(reply.elements ?? [])
        }
    }

    private func take(_ elements: [RESPValue]) {
        for element in elements {
            // One entry may have a thousand parts. Those beyond the window are read again.
            guard queue.count < parts.limits.relayWindowMax else { break }
            guard let entry = OutboxEntry(element) else { continue }
            last = entry.id
            book.began(entry)
            for part in entry.parts { queue.add(Queue.Entry(id: entry.id, lane: lane(part), item: part)) }
        }
        if !elements.isEmpty { readMs = Int.min }
    }

    /// What parts are ordered by: the topic of an event or of members, the home of a call.
    private func lane(_ part: OutboxEntry.Part) -> UInt64 {
        switch part.item {
        case .event(let topic, _, _), .member(let topic, _, _): StableHash.of(topic.bytes)
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
        case .member(let topic, let user, let isMember):
            setMember(topic, user, isMember: isMember, queued)
        case .call(let name, let arguments):
            switch bound(name, arguments) {
            case .failure(let refusal):
                if parts.library.catalogue.command(named: name) == nil { tellUnknown(name) }
                give(up: queued, because: refusal.message)
            case .success(let (descriptor, bound)):
                let operation = part.operation.map { OperationID.named($0) }
                runner.run(descriptor, bound, caller: .worker, operation: operation) { [weak self] result in
                    guard let self, generation == current else { return }
                    switch result {
                    case .success: succeeded(queued)
                    case .failure(let failure) where failure.isUnavailable: retry(queued)
                    case .failure(let failure): give(up: queued, because: "\(failure.code): \(failure.message)")
                    }
                }
            }
        }
    }

    /// Tells once for each name that calls of it are lost: most likely the gateways have scripts that this worker lacks.
    private func tellUnknown(_ name: String) {
        guard unknown.count < OutboxRelay.unknownMax, unknown.insert(String(name.prefix(200))).inserted else { return }
        parts.log.write(
            .warn, "calls of a command that this worker does not have are given up",
            [
                ("command", String(name.prefix(200))),
                ("remedy", "start the worker with the gateways' --scripts; what was given up is in #outbox-dead"),
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
        guard let run = link.facts?.fence else { return retry(queued) }
        let moment = CommandCallBuilder.Moment(
            nowMs: Clock.wallMs(), run: run, epoch: epochs.next(), random: [])
        let call = PublishCall(topic, [event]).call(
            parts.publish, keys: parts.keys, policy: policy, seenSeconds: parts.limits.relayedSeconds, moment,
            top: nil)
        let current = generation
        link.run(call, lane: nil) { [weak self] result in
            guard let self, generation == current else { return }
            switch result {
            case .success(let value) where value.elements?.last?.integer == PublishCall.Outcome.conflict.rawValue:
                give(up: queued, because: "its id was used for another event")
            case .success: succeeded(queued)
            case .failure(let failure) where OutboxRelay.isLasting(failure):
                give(up: queued, because: "\(failure.metricLabel): \(failure.detail)")
            case .failure: retry(queued)
            }
        }
    }

    private func setMember(_ topic: Topic, _ user: [UInt8], isMember: Bool, _ queued: Queue.Entry) {
        let most = Array(String(parts.limits.membersMax).utf8)
        let call = ScriptCall(
            script: parts.setMember, keys: [parts.keys.members(topic), parts.keys.removed],
            arguments: [topic.bytes, user, Array((isMember ? "add" : "remove").utf8), most])
        let current = generation
        link.run(call, lane: nil) { [weak self] result in
            guard let self, generation == current else { return }
            switch result {
            case .success(let value) where value.integer == -1:
                give(up: queued, because: "the topic has as many members as it may")
            case .success: succeeded(queued)
            case .failure(let failure) where OutboxRelay.isLasting(failure):
                give(up: queued, because: "\(failure.metricLabel): \(failure.detail)")
            case .failure: retry(queued)
            }
        }
    }

    /// Whether waiting does not help: the entry or the key is at fault.
    ///
    /// A missing right is the operator's to give.
    private static func isLasting(_ failure: RedisFailure) -> Bool {
        switch failure.kind {
        case .wrongType, .script, .tooLarge, .crossSlot: true
        // BADEPOCH asks for another candidate, which the next try has.
        case .other: !failure.detail.hasPrefix("BADEPOCH")
        default: false
        }
    }

    private func succeeded(_ entry: Queue.Entry) {
        figures.relayed += 1
        book.finished(entry.item)
        queue.finished(entry.lane)
    }

    private func retry(_ entry: Queue.Entry) {
        queue.failed(entry.lane, nowMs: reactor.nowMs)
    }

    /// Moves an entry to the dead ones, and only then deletes it.
    private func give(up queued: Queue.Entry, because reason: String) {
        let part = queued.item
        let fields = part.fields
        var command = RedisCall("XADD", parts.keys.outboxDead, Array("MAXLEN".utf8), Array("~".utf8))
        command.append(decimal: parts.limits.outboxDeadMax)
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
            book.finished(part)
            queue.finished(queued.lane)
        }
    }

    /// Deletes what was done.
    ///
    /// Should this be lost, the entries are done again, without effect.
    private func delete() {
        guard !book.done.isEmpty else { return }
        var command = RedisCall("XDEL", parts.keys.outbox)
        for id in book.take() { command.append(id) }
        link.call(command) { _ in }
    }
}
