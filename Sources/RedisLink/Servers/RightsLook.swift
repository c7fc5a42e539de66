public import Connections
internal import Core
public import Reactors

/// One look at a replica: it is dialled once, asked whether it could load its own file and what our user may do there,
/// and closed.
///
/// A replica has an ACL file of its own, and loads its own append-only file. Thread: the reactor's.
public final class RightsLook: RedisSocketOwner {
    private var socket: RedisSocket?
    private var timer: ReactorTimer?
    private let load: LoadInquiry
    private let user: UserInquiry
    /// The numbers of questions about the file, and of all; `nil` until they are sent.
    private var counts: (load: Int, all: Int)?
    private var answers: [Result<RESPValue, RedisFailure>] = []
    private var completion: ((LoadRights, UserRights) -> Void)?

    /// Begins; `completion` runs once, after `target.connectMs` at the latest, and never before this returns.
    ///
    /// `target` is that of the master, whose user and password are valid for its replicas.
    public init(
        _ context: ConnectionContext, _ target: RedisTarget, at address: SentinelGroup.Address, name: String,
        _ load: LoadInquiry, _ user: UserInquiry, completion: @escaping (LoadRights, UserRights) -> Void
    ) throws(Errno) {
        self.completion = completion
        self.load = load
        self.user = user
        let url = target.url.at(.network(host: address.host, port: address.port, tls: target.url.isEncrypted))
        timer = try ReactorTimer(context.reactor) { [weak self] in
            self?.fail(RedisFailure(.timedOut, detail: "the server does not answer"))
        }
        timer?.set(atMs: context.reactor.nowMs + target.connectMs)
        socket = RedisSocket(
            context, target.at(url, role: nil), PrimaryDirectory(fixed: url), name: name, owner: self)
        try socket?.start()
    }

    /// Ends the look without an answer.
    public func cancel() {
        completion = nil
        close()
    }

    private func fail(_ failure: RedisFailure) {
        end(load.rights([.failure(failure)]), user.rights([.failure(failure)]))
    }

    private func end(_ load: LoadRights, _ user: UserRights) {
        guard let completion else { return }
        self.completion = nil
        close()
        completion(load, user)
    }

    private func close() {
        socket?.stop()
        timer?.invalidate()
        timer = nil
    }

    private func endIfWhole() {
        guard let counts, answers.count == counts.all else { return }
        end(load.rights(Array(answers[..<counts.load])), user.rights(Array(answers[counts.load...])))
    }

    func socketReady(_ facts: ServerFacts) {
        let (first, second) = (load.questions(facts), user.questions(facts))
        counts = (first.count, first.count + second.count)
        if !(first + second).isEmpty { socket?.send(first + second) }
        endIfWhole()
    }

    func socketReceived(_ value: RESPValue) {
        answers.append(value.failure.map { .failure($0) } ?? .success(value))
        endIfWhole()
    }

    func socketDown(_ failure: RedisFailure) { fail(failure) }
}

@available(*, unavailable)
extension RightsLook: Sendable {}
