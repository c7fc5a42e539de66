public import Connections
public import Core
public import Reactors

/// Confirms that replicas have stored a write, by `WAIT` on a link of its own.
///
/// `WAIT` delays every call behind it on its connection. It covers all that the server had written when the
/// connection's last call ran, by any client. So one question covers every write before it. One is under way at a
/// time, and later writes share the next.
///
/// On a connection without an earlier call, `WAIT` would always succeed, so a `PING` precedes each question. Thread:
/// the reactor's.
public final class ReplicaWait {
    /// Receives `nil` when the replicas have stored the write, otherwise a refusal.
    public typealias Completion = (Refusal?) -> Void

    private struct Waiting {
        /// The run id of the process that ran the write.
        let runID: [UInt8]
        let completion: Completion
    }

    private let replicas: Int
    private let waitMs: Int
    private let waitingMax: Int
    private var link: CallLink?
    private var waiting: [Waiting] = []
    private var isAsking = false

    /// Makes the link; `replicas` is at least 1, and `waitMs` is less than the deadline of a call.
    public init(
        _ context: ConnectionContext, _ target: RedisTarget, _ directory: PrimaryDirectory, name: String, replicas: Int,
        waitMs: Int
    ) throws(Errno) {
        self.replicas = replicas
        self.waitMs = min(waitMs, max(1, target.callMs - 100))
        waitingMax = target.inFlightMax
        link = try CallLink(context, target, directory, name: name, registry: .none) { [weak self] _ in self?.ask() }
    }

    /// The run id of the process that the link leads to; `nil` while there is none.
    var runID: [UInt8]? { link?.facts?.runID }

    /// Ends the link; waiting calls are refused, since nothing confirms their writes.
    public func stop() {
        link?.stop()
        fail(waiting)
        waiting = []
    }

    /// Asks the link's server again for its history; called with each delivery probe.
    public func recheck() {
        link?.recheck()
    }

    /// Waits until the replicas have stored everything that was written to a process before now.
    ///
    /// The completion runs once, later or at once, in the order of the calls.
    public func confirm(_ runID: [UInt8], _ completion: @escaping Completion) {
        guard waiting.count < waitingMax else {
            return completion(.storeOverloaded)
        }
        waiting.append(Waiting(runID: runID, completion: completion))
        ask()
    }

    private func ask() {
        guard !isAsking, !waiting.isEmpty else { return }
        let asked = waiting
        waiting = []
        guard let link, let runID = link.facts?.runID else { return fail(asked) }
        isAsking = true
        link.call(RedisCall("PING")) { _ in }
        var call = RedisCall("WAIT")
        call.append(decimal: replicas)
        call.append(decimal: waitMs)
        link.call(call) { [weak self] result in
            guard let self else { return }
            isAsking = false
            answered(asked, by: runID, (try? result.get())?.integer ?? 0)
            ask()
        }
    }

    private func answered(_ asked: [Waiting], by runID: [UInt8], _ count: Int) {
        for one in asked {
            let isSafe = count >= replicas && one.runID == runID
            one.completion(isSafe ? nil : ReplicaWait.missing(replicas))
        }
    }

    private func fail(_ asked: [Waiting]) {
        for one in asked { one.completion(ReplicaWait.missing(replicas)) }
    }

    /// The refusal when fewer replicas have stored it, or nothing confirms it.
    static func missing(_ replicas: Int) -> Refusal {
        Refusal(
            .unavailable,
            replicas == 1
                ? "it is stored, but no replica is known to have it; try again with the same id"
                : "it is stored, but not known to be on the replicas it must be on; try again with the same id")
    }
}

@available(*, unavailable)
extension ReplicaWait: Sendable {}
