import Configuration
import Connections
public import Core
public import Dialects
public import Operations
import Reactors
public import Rights
public import Service
public import Sessions
public import Topics

/// The services that the transports of one shard share.
///
/// Each transport holds one reference to it. Thread: the shard's.
public final class TransportContext {
    /// The clock of the shard.
    public let clock: ShardClock
    let limits: Limits
    /// The rate of frames and packets for which no session is charged.
    let controlRate: RateLimit
    /// Number of shards of the node, which share the limit on all waiting bytes.
    let shardCount: Int
    /// The counters of the shard.
    public let statistics: ShardStatistics
    /// For clients that agreed on `permessage-deflate`.
    let deflation: Deflation
    /// The rules by which slow clients are thinned.
    let access: AccessPolicy
    /// The transports that are open.
    public let open: OpenTransports
    private let clientLog: ClientLog
    private let accessLog: ClientAccess?
    private let services: SessionServices

    /// The services of one shard; `accessLog` is `nil` without an access log.
    public init(
        clock: ShardClock, limits: Limits, shardCount: Int, statistics: ShardStatistics, deflation: Deflation,
        access: AccessPolicy, services: SessionServices, open: OpenTransports, clientLog: ClientLog,
        accessLog: ClientAccess?
    ) {
        self.clock = clock
        self.limits = limits
        controlRate = RateLimit(
            perSecond: limits.controlFramesPerSecond, burst: limits.controlFramesPerSecond * 2)
        self.shardCount = shardCount
        self.statistics = statistics
        self.deflation = deflation
        self.access = access
        self.clientLog = clientLog
        self.accessLog = accessLog
        self.services = services
        self.open = open
    }

    /// A full allowance of frames and packets for which no session is charged.
    func controlBucket() -> TokenBucket { TokenBucket(controlRate, nowMs: clock.nowMs) }

    /// The peer of a client that speaks a dialect.
    public func peer(_ dialect: any Dialect, _ caller: Caller) -> Peer {
        Peer(services, dialect: dialect, caller: caller)
    }

    /// Counts an event whose receiver no longer exists.
    func undeliverable(_ delivery: Delivery) { services.reports.undeliverable(delivery) }

    /// Logs the end of a client when it is not the usual one.
    func logEnd(_ reason: CloseReason, of peer: Peer?, at address: IPAddress?, bytesUnsent: Int) {
        guard let trouble = ClientTrouble(ending: reason) else { return }
        clientLog.write(trouble, nowMs: clock.nowMs) {
            [("reason", reason.rawValue)] + ClientLog.fields(peer?.knownCaller, at: address)
                + ClientLog.fields(peer?.sessions.flatMap(\.topicsHeld) ?? []) + [("bytes", "\(bytesUnsent)")]
        }
    }

    /// Writes the end of a connection into the access log.
    func logAccess(_ connection: Connection, _ transport: ClientAccess.Transport, _ reason: CloseReason, by peer: Peer?)
    {
        accessLog?.ended(connection, transport, reason, by: peer?.knownCaller, nowMs: clock.nowMs)
    }
}
