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
    private var load: LoadInquiry
    private var user: UserInquiry
    /// The answer about the file, once it is there.
    private var loadRights: LoadRights?
    private var facts: ServerFacts?
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

    private func fail(_ failure: RedisFailure) { end(loadRights ?? .unknown(failure), .unknown(failure)) }

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

    private func take(_ step: InquiryStep<LoadRights>) {
        switch step {
        case .ask(let question): socket?.send([question])
        case .done(let rights):
            loadRights = rights
            if let facts { take(user.begin(facts)) }
        }
    }

    private func take(_ step: InquiryStep<UserRights>) {
        switch step {
        case .ask(let question): socket?.send([question])
        case .done(let rights): end(loadRights ?? .unknown(RedisFailure(.disconnected)), rights)
        }
    }

    func socketReady(_ facts: ServerFacts) {
        self.facts = facts
        take(load.begin(facts))
    }

    func socketReceived(_ value: RESPValue) {
        let result: Result<RESPValue, RedisFailure> = value.failure.map { .failure($0) } ?? .success(value)
        if loadRights == nil { take(load.answered(result)) } else { take(user.answered(result)) }
    }

    func socketDown(_ failure: RedisFailure) { fail(failure) }
}

@available(*, unavailable)
extension RightsLook: Sendable {}
