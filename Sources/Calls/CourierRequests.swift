import Commands
import Configuration
import Core
import EventLogs
import Operations
import Reactors
import RedisLink
import Rights

/// One shard's questions to outside services, which couriers answer through Redis (docs/courier.md).
///
/// A question waits in a list of its service, and its answer arrives on the node's own channel. Thread: the shard's.
public final class CourierRequests {
    typealias Completion = CommandService.Completion

    /// A question as its callers need it.
    private struct Asker {
        let via: OutsideAnswer
        let digest: [UInt8]
        let completion: Completion
    }

    private let context: CallsContext
    private let statistics: ShardStatistics
    private var book: PendingRequests<Asker>

    /// Maximum callers of one shard that wait for answers.
    private static let waitersMax = 4_096
    /// Milliseconds after which a client may retry, where no better time is known.
    private static let retryMs = 1_000

    init(_ context: CallsContext) {
        self.context = context
        statistics = context.statistics
        book = PendingRequests(
            questionsMax: max(1, context.limits.asksMax / max(1, context.shardCount)),
            waitersMax: CourierRequests.waitersMax)
    }

    // MARK: Questions

    /// Sends a script's result to a service as a question, or answers at once from the cache.
    func ask(_ via: OutsideAnswer, _ command: CommandDescriptor, _ request: [UInt8], _ completion: @escaping Completion)
    {
        let question = PendingRequests<Asker>.Question(command: command.name, request: request)
        var id = Array("!\(context.shard).".utf8)
        id.append(contentsOf: SecureRandom.text(byteCount: 18))
        let digest = Base64.encode(Digest.sha256(Array(command.name.utf8) + [0] + request), .url)
        let asker = Asker(via: via, digest: digest, completion: completion)
        switch book.ask(question, id: id, dueMs: context.nowMs() + context.limits.askMs, asker) {
        case .shared: statistics.asksShared.add(1)
        case .full:
            tell([asker], CourierRequests.refusal("too many questions to \(via.service) are being asked; try again"))
        case .first:
            statistics.asks.add(1)
            send(id, via, digest, entry(id, via, command, request))
        }
        statistics.asksWaiting.set(book.count)
    }

    private func entry(
        _ id: [UInt8], _ via: OutsideAnswer, _ command: CommandDescriptor, _ request: [UInt8]
    ) -> [UInt8] {
        var text = [UInt8(ascii: "{")]
        text.append(member: "id", string: id)
        text.append(member: "to", string: context.settings.keys.node(Array(context.nodeName.utf8)))
        text.append(member: "service", string: via.service)
        text.append(member: "command", string: command.name)
        text.append(member: "until", number: context.settings.nowMs() + context.limits.askMs)
        text.append(member: "request", json: request)
        text.append(UInt8(ascii: "}"))
        return text
    }

    private func send(_ id: [UInt8], _ via: OutsideAnswer, _ digest: [UInt8], _ entry: [UInt8]) {
        let (keys, limits) = (context.settings.keys, context.limits)
        let call = ScriptCall(
            script: context.scripts.ask,
            keys: [keys.answers(of: via.service), keys.asks(of: via.service), keys.courier(of: via.service)],
            arguments: [digest, entry] + [limits.asksWaitingMax, limits.askMs].map { Array(String($0).utf8) })
        context.link.run(call, lane: nil) { [weak self] result in self?.sent(id, via, result) }
    }

    private func sent(_ id: [UInt8], _ via: OutsideAnswer, _ result: Result<RESPValue, RedisFailure>) {
        guard case .success(let value) = result, let words = value.elements, let word = words.first?.integer else {
            let failure: RedisFailure = if case .failure(let failure) = result { failure } else { .init(.disconnected) }
            return finish(id, .failure(failure.refusal))
        }
        switch word {
        case 0: return
        case 1 where words.count == 2:
            guard let answer = words[1].bytes.flatMap({ CommandAnswer(outside: $0, limits: context.limits.json) })
            else {
                return unreadable(id, via)
            }
            statistics.asksKept.add(1)
            finish(id, .success(answer))
        case -1:
            statistics.asksWithoutCourier.add(1)
            finish(id, .failure(Refusal(.unavailable, via.absent, about: .script)))
        default:
            finish(id, CourierRequests.refusal("too many questions to \(via.service) wait; try again"))
        }
    }

    // MARK: Answers

    /// Takes a message on the node's channel that begins like an answer.
    ///
    /// Its form is `ID WORD [SECONDS]` and a line end, then JSON.
    public func received(_ message: [UInt8]) {
        let head = message.prefix { $0 != UInt8(ascii: "\n") }
        let words = head.split(separator: UInt8(ascii: " ")).map { Array($0) }
        guard words.count >= 2, book.waits(words[0]) else { return statistics.asksStray.add(1) }
        let askers = book.take(words[0])
        statistics.asksWaiting.set(book.count)
        guard let first = askers.first else { return }
        let service = first.via.service
        switch String(decoding: words[1], as: UTF8.self) {
        case "ok":
            let body = Array(message.dropFirst(head.count + 1))
            let limits = context.limits
            guard body.count <= limits.askAnswerBytesMax, let answer = CommandAnswer(outside: body, limits: limits.json)
            else {
                statistics.asksUnreadable.add(1)
                return tell(askers, CourierRequests.refusal("the answer of \(service) could not be read"))
            }
            if first.via.cacheSeconds > 0 { keep(body, first) }
            tell(askers, .success(answer))
        default:
            statistics.asksFailed.add(1)
            let seconds = words.count > 2 ? ASCII.decimal(words[2]).map { min(max($0, 1), 3_600) } : nil
            tell(askers, CourierRequests.refusal("\(service) could not be asked", (seconds ?? 1) * 1_000))
        }
    }

    /// Stores the answer in the cache; nothing depends on its success.
    private func keep(_ body: [UInt8], _ asker: Asker) {
        let keys = context.settings.keys
        let bounds = [asker.via.cacheSeconds, context.limits.answersKeptMax].map { Array(String($0).utf8) }
        let call = ScriptCall(
            script: context.scripts.keepAnswer,
            keys: [keys.answers(of: asker.via.service), keys.answersDue(of: asker.via.service)],
            arguments: [asker.digest, body] + bounds)
        context.link.run(call, lane: nil) { _ in }
    }

    private func unreadable(_ id: [UInt8], _ via: OutsideAnswer) {
        statistics.asksUnreadable.add(1)
        finish(id, CourierRequests.refusal("the answer of \(via.service) could not be read"))
    }

    /// Gives up questions that have waited too long.
    func sweep() {
        for id in book.due(nowMs: context.nowMs()) {
            let askers = book.take(id)
            statistics.asksSlow.add(1)
            let service = askers.first?.via.service ?? ""
            tell(askers, CourierRequests.refusal("\(service) takes too long to answer; try again"))
        }
        statistics.asksWaiting.set(book.count)
    }

    private func finish(_ id: [UInt8], _ result: Result<CommandAnswer, Refusal>) {
        tell(book.take(id), result)
        statistics.asksWaiting.set(book.count)
    }

    private func tell(_ askers: [Asker], _ result: Result<CommandAnswer, Refusal>) {
        if case .failure = result { statistics.commandsRefused.add(askers.count) }
        for asker in askers { asker.completion(result) }
    }

    private static func refusal(
        _ text: String, _ retryMs: Int = CourierRequests.retryMs
    ) -> Result<CommandAnswer, Refusal> {
        .failure(Refusal(.unavailable, text, retryAfterMs: retryMs))
    }
}

@available(*, unavailable)
extension CourierRequests: Sendable {}
