import Configuration
import Core
import Reactors
import Rights
import Service

/// Keeps a file as the key set of an identity provider says, for gateways that verify tokens by it.
///
/// A set is taken over whole, after it was read as a gateway reads it. Any other answer leaves the file as it is, so
/// tokens that were valid stay valid. The file, and no key of Redis, carries the set: a writer of Redis must not be
/// able to make tokens. Thread: the courier's.
final class KeySetFetcher {
    /// The result of a fetch; the raw value is the metric label and the log field.
    enum Outcome: String, CaseIterable {
        /// The file has what was fetched.
        case fetched
        /// The answer has another status than 200; redirects are not followed.
        case status
        /// The answer is no key set of public keys, or is too large.
        case content
        /// There was no answer.
        case unanswered
        /// The file cannot be written.
        case file
    }

    /// The file's bytes at most: those that a gateway reads.
    static let bytesMax = 262_144

    private let url: String
    private let path: String
    private let engine: any WebClient
    private let limits: CourierLimits
    private let log: Log
    private var isFetching = false
    private var failures = 0
    private var failing: Outcome?
    /// The time of the next fetch, monotonic milliseconds.
    private(set) var nextMs = 0
    /// The time of the last good fetch, monotonic milliseconds; `nil` before the first.
    private(set) var fetchedMs: Int?
    /// The number of fetches of each outcome.
    private(set) var counts: [Outcome: Int] = [:]

    init(_ url: String, path: String, engine: any WebClient, limits: CourierLimits, log: Log) {
        self.url = url
        self.path = path
        self.engine = engine
        self.limits = limits
        self.log = log
    }

    /// Whether the last good fetch is recent: a provider may have new keys that gateways do not know.
    func isFresh(nowMs: Int) -> Bool {
        fetchedMs.map { nowMs - $0 <= limits.keySetLateMs } ?? false
    }

    /// Fetches when it is time; `nowMs` is monotonic.
    func work(nowMs: Int, after: @escaping () -> Int) {
        guard !isFetching, nowMs >= nextMs else { return }
        isFetching = true
        nextMs = Int.max
        let request = WebRequest(
            .get, url, headers: [("accept", "application/json")], deadlineMs: nowMs + limits.keySetMs)
        engine.send(request) { [unowned self] result in
            isFetching = false
            take(result, nowMs: after())
        }
    }

    private func take(_ result: Result<WebReply, WebFailure>, nowMs: Int) {
        switch result {
        case .failure(.stopped): return
        case .failure(let failure): note(.unanswered, failure.rawValue, nowMs)
        case .success(let reply) where reply.status != 200: note(.status, "\(reply.status)", nowMs)
        case .success(let reply):
            do throws(KeySetProblem) {
                try KeySetFetcher.check(reply.body)
                try store(reply.body)
                note(.fetched, "", nowMs)
            } catch {
                note(error.outcome, error.detail, nowMs)
            }
        }
    }

    /// A reason why a fetched set is not used.
    private struct KeySetProblem: Error {
        let outcome: Outcome
        let detail: String
    }

    /// Checks that bytes are a set of public keys that a gateway can use.
    private static func check(_ bytes: [UInt8]) throws(KeySetProblem) {
        guard bytes.count <= bytesMax else {
            throw KeySetProblem(outcome: .content, detail: "more than \(bytesMax) bytes")
        }
        guard let problem = TokenKeys.problem(inPublicSet: bytes) else { return }
        throw KeySetProblem(outcome: .content, detail: problem)
    }

    /// Writes the file, unless it has these bytes already.
    private func store(_ bytes: [UInt8]) throws(KeySetProblem) {
        if let present = try? Files.read(path, bytesMax: KeySetFetcher.bytesMax), present == bytes { return }
        do {
            try Files.write(bytes, to: path, isSecret: false)
        } catch {
            throw KeySetProblem(outcome: .file, detail: error.description)
        }
        log.write(.info, "the key set has changed", [("file", path), ("bytes", "\(bytes.count)")])
    }

    private func note(_ outcome: Outcome, _ detail: String, _ nowMs: Int) {
        counts[outcome, default: 0] += 1
        if outcome == .fetched {
            if failing != nil { log.write(.info, "the key set is fetched again", [("url", url)]) }
            (failures, failing, fetchedMs) = (0, nil, nowMs)
            nextMs = nowMs + limits.keySetRefreshMs
            return
        }
        failures += 1
        nextMs = nowMs + min(limits.keySetRetryMs << min(failures - 1, 10), limits.keySetRefreshMs)
        guard failing != outcome else { return }
        failing = outcome
        log.write(
            .warn, "the key set cannot be fetched",
            [("url", url), ("reason", outcome.rawValue), ("detail", PrintableText.clean(detail))])
    }
}

@available(*, unavailable)
extension KeySetFetcher: Sendable {}
