public import Core
public import Operations
import Reactors
public import Rights
public import Service

/// Judges the callers of sessions by the rules of the node.
///
/// Thread: the shard's.
public final class SessionCallers: CallerAccess {
    private let gate: CallerGate
    private let rates: CallerRates
    private let clientLog: ClientLog
    private let limits: Limits
    private let clock: ShardClock
    private let statistics: ShardStatistics

    /// Judges tokens by the keys and revocations of `gate`, at the time of `clock`.
    public init(
        _ gate: CallerGate, _ rates: CallerRates, _ clientLog: ClientLog, _ limits: Limits, _ clock: ShardClock,
        _ statistics: ShardStatistics
    ) {
        self.gate = gate
        self.rates = rates
        self.clientLog = clientLog
        self.limits = limits
        self.clock = clock
        self.statistics = statistics
    }

    /// Checks the token at the time that all nodes share.
    public func verify(_ token: [UInt8]) -> Result<Identity, TokenFailure> {
        gate.verify(token, now: clock.wallSeconds)
    }

    /// A connection may be older than a change of its credentials, so these are checked again.
    public func admit(_ caller: Caller, showing token: [UInt8]?, at address: IPAddress?) -> Result<Caller, Refusal> {
        let judged: Result<Caller, TokenFailure>
        if let token {
            judged = verify(token).map { .user($0) }
        } else if !gate.authenticator.stillKnows(caller) {
            judged = .failure(.replaced)
        } else if case .user(let identity) = caller,
            identity.expiresAt + limits.tokenLeewaySeconds <= clock.wallSeconds
        {
            judged = .failure(.expired)
        } else {
            return gate.unlessRevoked(caller).flatMap(gate.unlessAnonymous)
        }
        return judged.mapError { failure in
            statistics.authenticationFailures.add(1)
            clientLog.write(.credentials, nowMs: clock.nowMs) {
                [("reason", failure.rawValue)] + ClientLog.fields(nil, at: address)
            }
            return failure.refusal
        }.flatMap(gate.unlessAnonymous)
    }

    /// The user, service or address; trusted proxies and unix sockets stand for many.
    public func payer(_ caller: Caller, at address: IPAddress?) -> Payer { rates.payer(caller, at: address) }
}
