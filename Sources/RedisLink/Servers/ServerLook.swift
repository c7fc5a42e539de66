internal import Connections
internal import Core
internal import Reactors

/// One look at a server of any role: it is dialled once, its greeting is read, and the connection is closed.
///
/// Thread: the reactor's.
final class ServerLook: RedisSocketOwner {
    private var socket: RedisSocket?
    private var timer: ReactorTimer?
    private var completion: ((Result<ServerFacts, RedisFailure>) -> Void)?

    /// Begins; `completion` runs once, after `target.connectMs` at the latest, and never before this returns.
    init(
        _ context: ConnectionContext, _ target: RedisTarget, name: String,
        completion: @escaping (Result<ServerFacts, RedisFailure>) -> Void
    ) throws(Errno) {
        self.completion = completion
        timer = try ReactorTimer(context.reactor) { [weak self] in
            self?.end(.failure(RedisFailure(.timedOut, detail: "the server does not answer")))
        }
        timer?.set(atMs: context.reactor.nowMs + target.connectMs)
        socket = RedisSocket(context, target, PrimaryDirectory(fixed: target.url), name: name, owner: self)
        try socket?.start()
    }

    /// Ends the look without an answer.
    func cancel() {
        completion = nil
        close()
    }

    private func end(_ result: Result<ServerFacts, RedisFailure>) {
        guard let completion else { return }
        self.completion = nil
        close()
        completion(result)
    }

    private func close() {
        socket?.stop()
        timer?.invalidate()
        timer = nil
    }

    func socketReady(_ facts: ServerFacts) { end(.success(facts)) }
    func socketReceived(_ value: RESPValue) {}
    func socketDown(_ failure: RedisFailure) { end(.failure(failure)) }
}
