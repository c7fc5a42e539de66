public import Connections
internal import Core
public import Reactors

extension CallLink {
    /// Asks the server whether it could load its own file; `completion` runs once, with `unknown` after a lost
    /// connection.
    public func askLoadRights(prefix: [UInt8], _ completion: @escaping (LoadRights) -> Void) {
        guard let facts else { return completion(.unknown(RedisFailure(.disconnected))) }
        let inquiry = LoadInquiry(prefix: prefix)
        take(inquiry.begin(facts), inquiry, completion)
    }

    private func take(_ step: LoadInquiry.Step, _ inquiry: LoadInquiry, _ completion: @escaping (LoadRights) -> Void) {
        switch step {
        case .done(let rights): completion(rights)
        case .ask(let question):
            call(question) { [weak self] result in
                var inquiry = inquiry
                let step = inquiry.answered(result)
                guard let self else { return completion(.unknown(RedisFailure(.disconnected))) }
                take(step, inquiry, completion)
            }
        }
    }
}

/// One look at a replica: it is dialled once, asked whether it could load its own file, and closed.
///
/// A replica has an ACL file of its own, and loads its own append-only file. Thread: the reactor's.
public final class RightsLook: RedisSocketOwner {
    private var socket: RedisSocket?
    private var timer: ReactorTimer?
    private var inquiry: LoadInquiry
    private var completion: ((LoadRights) -> Void)?

    /// Begins; `completion` runs once, after `target.connectMs` at the latest, and never before this returns.
    ///
    /// `target` is that of the master, whose user and password are valid for its replicas.
    public init(
        _ context: ConnectionContext, _ target: RedisTarget, at address: SentinelGroup.Address, name: String,
        prefix: [UInt8], completion: @escaping (LoadRights) -> Void
    ) throws(Errno) {
        self.completion = completion
        inquiry = LoadInquiry(prefix: prefix)
        let url = target.url.at(.network(host: address.host, port: address.port, tls: target.url.isEncrypted))
        timer = try ReactorTimer(context.reactor) { [weak self] in
            self?.end(.unknown(RedisFailure(.timedOut, detail: "the server does not answer")))
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

    private func end(_ rights: LoadRights) {
        guard let completion else { return }
        self.completion = nil
        close()
        completion(rights)
    }

    private func close() {
        socket?.stop()
        timer?.invalidate()
        timer = nil
    }

    private func take(_ step: LoadInquiry.Step) {
        switch step {
        case .done(let rights): end(rights)
        case .ask(let question): socket?.send([question])
        }
    }

    func socketReady(_ facts: ServerFacts) { take(inquiry.begin(facts)) }

    func socketReceived(_ value: RESPValue) {
        take(inquiry.answered(value.failure.map { .failure($0) } ?? .success(value)))
    }

    func socketDown(_ failure: RedisFailure) { end(.unknown(failure)) }
}

@available(*, unavailable)
extension RightsLook: Sendable {}
