public import Commands
import Configuration
public import Core
import HTTPCodec
public import Operations
import Reactors
import Rights
public import Service
public import Transports

/// The services that the HTTP connections and routes of one shard share.
///
/// Thread: the shard's.
public final class HTTPContext {
    /// The clock of the shard.
    public let clock: ShardClock
    /// The limits of requests and answers.
    public let limits: Limits
    let statistics: ShardStatistics
    let answers: AnswerCounts
    let gate: CallerGate
    /// The rates of users and addresses.
    public let rates: CallerRates
    /// Decides which routes and commands a caller may use.
    let callRights: CallRights
    let library: ScriptLibrary
    let dialects: DialectRegistry
    let health: Health
    let memory: MemoryWatch
    let log: Log
    let clientLog: ClientLog
    /// Counts refused requests by caller.
    let talkers: Talkers
    /// `nil` unless every request and connection is logged.
    let accessLog: ClientAccess?
    let options: HTTPOptions

    /// The services of one shard; `accessLog` is `nil` without an access log.
    public init(
        clock: ShardClock, limits: Limits, statistics: ShardStatistics, answers: AnswerCounts, gate: CallerGate,
        rates: CallerRates, callRights: CallRights, library: ScriptLibrary, dialects: DialectRegistry, health: Health,
        memory: MemoryWatch, log: Log, clientLog: ClientLog, talkers: Talkers, accessLog: ClientAccess?,
        options: HTTPOptions
    ) {
        self.clock = clock
        self.limits = limits
        self.statistics = statistics
        self.answers = answers
        self.gate = gate
        self.rates = rates
        self.callRights = callRights
        self.library = library
        self.dialects = dialects
        self.health = health
        self.memory = memory
        self.log = log
        self.clientLog = clientLog
        self.talkers = talkers
        self.accessLog = accessLog
        self.options = options
    }

    /// The milliseconds until an address may send a request, which is counted as refused; `nil` when it may now.
    func refusalOfRate(_ address: IPAddress?) -> Refusal? {
        guard let waitMs = rates.waitForRequest(address, nowMs: clock.nowMs) else { return nil }
        statistics.rateLimited.add(1)
        return Refusal(
            .rateLimited, "more than \(limits.requestsPerAddressPerSecond) requests a second from this address",
            retryAfterMs: waitMs)
    }

    /// Counts and logs refused credentials.
    func credentialsRefused(_ refusal: Refusal, _ head: HTTPRequestHead, _ origin: ClientAddress) {
        statistics.authenticationFailures.add(1)
        clientLog.write(.credentials, nowMs: clock.nowMs) {
            [("reason", refusal.name), ("error", refusal.message), ("path", ClientLog.text(head.path))]
                + ClientLog.fields(nil, at: origin.address)
        }
    }
}
