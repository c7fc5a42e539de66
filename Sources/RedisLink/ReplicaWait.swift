public import Core
public import Reactors
public import Transport

/// Says when replicas have what was written: `WAIT`, on a link of its own.
///
/// `WAIT` holds up everything behind it on its connection, and speaks of all that the server had written when the
/// connection's last call ran, whoever wrote it. So one question stands for everything that was written before it, and
/// one is under way at a time: what comes meanwhile shares the next. A connection that has called nothing yet would be
/// told that the replicas have everything, so each question has a call before it. Thread: the reactor's.
public final class ReplicaWait {
    /// What a wait comes to: `nil` when the replicas have it.
    public typealias Completion = (Refusal?) -> Void

    private struct Waiting {
        /// The process that it was written to.
        let runID: [UInt8]
        let completion: Completion
    }

    private let replicas: Int
    private let waitMs: Int
    private let waitingMax: Int
    private var link: CallLink?
    private var waiting: [Waiting] = []
    private var isAsking = false

    /// Makes the link; `replicas` is at least 1, and `waitMs` less than a call may take.
    public init(
        _ context: ConnectionContext, _ target: RedisTarget, _ board: ServerBoard, name: String, replicas: Int,
        waitMs: Int
    ) throws(Errno) {
        self.replicas = replicas
        self.waitMs = min(waitMs, max(1, target.callMs - 100))
        waitingMax = target.inFlightMax
        link = try CallLink(context, target, board, name: name, registry: .none) { [weak self] _ in self?.ask() }
    }

    /// The process that the link leads to; `nil` while there is none.
    var runID: [UInt8]? { link?.facts?.runID }

    /// Ends the link; whoever waits is told that it is not known.
    public func stop() {
        link?.stop()
        fail(waiting)
        waiting = []
    }

    /// Looks again which history is written where the link leads; called with each delivery probe.
    public func recheck() {
        link?.recheck()
    }

    /// Waits until the replicas have what was written to a process before now.
    ///
    /// The completion runs once, later or at once, in the order of the calls.
    public func confirm(_ runID: [UInt8], _ completion: @escaping Completion) {
        guard waiting.count < waitingMax else {
            return completion(RedisFailure(.inFlightFull).refusal)
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

    /// What is told when fewer replicas have it, or nobody knows.
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
