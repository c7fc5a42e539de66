import Commands
public import Core
public import EventLogs
public import RedisLink

/// The deliveries that couriers and workers gave up: read, retry, drop.
///
/// Replies are as untrusted as any other input. Thread: the shard's.
public final class DeadLetters {
    /// The selection of a service or receiver.
    public typealias Box = DeadLetter.Box

    /// Some letters, oldest first.
    public struct Page {
        /// Oldest first; empty beyond the last one.
        public var letters: [DeadLetter] = []
        /// The id after which the next page begins; `nil` at the end.
        public var next: [UInt8]?
    }

    /// Result of a retry of letters.
    public struct Outcome {
        /// Number of letters that wait for a courier or worker again.
        public var retried = 0
        /// Number of letters that remain, since they cannot be retried: the log has lost the event, or it never was a
        /// call.
        public var gone = 0
        /// The id after which the next page begins; `nil` at the end.
        public var next: [UInt8]?
    }

    /// The selection of letters.
    public enum Choice: Sendable {
        case one([UInt8])
        /// Letters after an id, or from the oldest on; at most `limit`.
        case after([UInt8]?, limit: Int)
    }

    private let link: any RedisCalls
    private let scripts: EventLogScripts
    private let keys: Keys
    private let limits: Limits

    private static let nonsense = Refusal(.internalError, "the store answered something that cannot be")
    /// Maximum bytes of the fields in one page; a single letter is returned whatever its size.
    private static let pageBytesMax = 262_144

    /// Reads and moves letters by `link`; at most a page in one call.
    public init(link: any RedisCalls, scripts: EventLogScripts, keys: Keys, limits: Limits) {
        self.link = link
        self.scripts = scripts
        self.keys = keys
        self.limits = limits
    }

    /// Reads letters.
    public func read(_ box: Box, _ choice: Choice, _ completion: @escaping (Result<Page, Refusal>) -> Void) {
        let range: (from: [UInt8], upTo: [UInt8], limit: Int) =
            switch choice {
            case .one(let id): (id, id, 1)
            case .after(let id, let limit):
                (id.map { Array("(".utf8) + $0 } ?? Array("-".utf8), Array("+".utf8), limit)
            }
        let call = ScriptCall(
            script: scripts.deadLetters, keys: [box.key(keys)],
            arguments: [
                range.from, range.upTo, DeadLetters.text(range.limit), DeadLetters.text(DeadLetters.pageBytesMax),
            ])
        link.run(call, lane: nil) { result in
            completion(
                result.mapError(\.refusal).flatMap { value in
                    guard let words = value.elements, let more = words.first?.integer else {
                        return .failure(DeadLetters.nonsense)
                    }
                    var page = Page()
                    for index in stride(from: 1, to: words.count - 1, by: 2) {
                        DeadLetter(id: words[index], fields: words[index + 1]).map { page.letters.append($0) }
                    }
                    if more == 1 { page.next = page.letters.last?.id }
                    return .success(page)
                })
        }
    }

    private static func text(_ number: Int) -> [UInt8] { Array("\(number)".utf8) }

    // MARK: Retries

    /// Retries letters, one after the other.
    public func retry(_ box: Box, _ choice: Choice, _ completion: @escaping (Result<Outcome, Refusal>) -> Void) {
        read(box, choice) { [weak self] result in
            switch result {
            case .failure(let refusal): completion(.failure(refusal))
            case .success(let page): self?.retry(box, page, 0, Outcome(), completion)
            }
        }
    }

    private func retry(
        _ box: Box, _ page: Page, _ index: Int, _ outcome: Outcome,
        _ completion: @escaping (Result<Outcome, Refusal>) -> Void
    ) {
        var outcome = outcome
        guard index < page.letters.count else {
            outcome.next = page.next
            return completion(.success(outcome))
        }
        retry(box, page.letters[index]) { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(true): outcome.retried += 1
            case .success(false): outcome.gone += 1
            case .failure(let refusal):
                // The letters retried so far are reported; the others are left to the next request.
                guard index > 0 else { return completion(.failure(refusal)) }
                outcome.next = page.letters[index - 1].id
                return completion(.success(outcome))
            }
            retry(box, page, index + 1, outcome, completion)
        }
    }

    /// Retries one letter; false when that is impossible.
    private func retry(_ box: Box, _ letter: DeadLetter, _ completion: @escaping (Result<Bool, Refusal>) -> Void) {
        switch box {
        case .service(let name):
            let call = ScriptCall(
                script: scripts.retryCall, keys: [keys.callsDead(of: name), keys.calls(of: name)],
                arguments: [letter.id, DeadLetters.text(limits.callsMax)])
            link.run(call, lane: nil) { result in
                completion(
                    result.mapError(\.refusal).flatMap { value in
                        switch value.integer {
                        case 1: .success(true)
                        case 0: .success(false)
                        case -1:
                            .failure(Refusal(.unavailable, "too many calls of \(name) wait: is a courier running?"))
                        default: .failure(DeadLetters.nonsense)
                        }
                    })
            }
        case .receiver(let name): retell(name, letter, completion)
        }
    }

    /// Moves a receiver's cursor back, then removes the letter; after a fault in between, the event is sent twice.
    private func retell(_ name: String, _ letter: DeadLetter, _ completion: @escaping (Result<Bool, Refusal>) -> Void) {
        guard let (topic, epoch, offset) = letter.event, (1...64).contains(epoch.count) else {
            return completion(.success(false))
        }
        let own = Array(name.utf8)
        let call = ScriptCall(
            script: scripts.retryWebhook,
            keys: [
                keys.domain(topic, facet: "hook", member: own), keys.domain(topic, facet: "hook-lease", member: own),
                keys.meta(topic), keys.log(topic),
            ], arguments: [epoch, DeadLetters.text(offset)])
        link.run(call, lane: nil) { [weak self] result in
            switch result.mapError(\.refusal).map(\.integer) {
            case .success(1):
                self?.drop(.receiver(name), letter.id) { completion($0.map { _ in true }) }
            case .success(0): completion(.success(false))
            case .success: completion(.failure(DeadLetters.nonsense))
            case .failure(let refusal): completion(.failure(refusal))
            }
        }
    }

    // MARK: Dropping

    /// Drops a letter, or all; returns the number of letters dropped.
    public func drop(_ box: Box, _ id: [UInt8]?, _ completion: @escaping (Result<Int, Refusal>) -> Void) {
        let key = box.key(keys)
        let call =
            id.map { RedisCall("XDEL", key, $0) }
            ?? RedisCall("XTRIM", key, Array("MAXLEN".utf8), Array("0".utf8))
        link.call(call) { result in
            completion(
                result.mapError(\.refusal).flatMap { value in
                    value.integer.map { .success($0) } ?? .failure(DeadLetters.nonsense)
                })
        }
    }
}

@available(*, unavailable)
extension DeadLetters: Sendable {}
