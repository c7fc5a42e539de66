import Core
import Operations
import Reactors
import Rights
import Service

/// The callers of a shard's sessions, judged by the rules of the node.
///
/// Thread: the shard's.
final class SessionCallers: CallerAccess {
    private let node: Node
    private let clock: ShardClock
    private let statistics: ShardStatistics

    init(_ node: Node, _ clock: ShardClock, _ statistics: ShardStatistics) {
        self.node = node
        self.clock = clock
        self.statistics = statistics
    }

    func verify(_ token: [UInt8]) -> Result<Identity, TokenFailure> {
        node.gate.verify(token, now: clock.wallSeconds)
    }

    /// A connection may be older than a change of its credentials, so these are checked again.
    func admit(_ caller: Caller, showing token: [UInt8]?, at address: IPAddress?) -> Result<Caller, Refusal> {
        let judged: Result<Caller, TokenFailure>
        if let token {
            judged = verify(token).map { .user($0) }
        } else if !node.gate.authenticator.stillKnows(caller) {
            judged = .failure(.replaced)
        } else if case .user(let identity) = caller,
            identity.expiresAt + node.limits.tokenLeewaySeconds <= clock.wallSeconds
        {
            judged = .failure(.expired)
        } else {
            return node.gate.unlessRevoked(caller).flatMap(node.gate.unlessAnonymous)
        }
        return judged.mapError { failure in
            statistics.authenticationFailures.add(1)
            node.clientLog.write(.credentials, nowMs: clock.nowMs) {
                [("reason", failure.rawValue)] + ClientLog.fields(nil, at: address)
            }
            return failure.refusal
        }.flatMap(node.gate.unlessAnonymous)
    }

    func payer(_ caller: Caller, at address: IPAddress?) -> Payer { node.rates.payer(caller, at: address) }
}
