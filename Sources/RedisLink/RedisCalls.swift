/// The interface for calls: the link to one server, or the links to all masters of a cluster.
///
/// Thread: the reactor's.
public protocol RedisCalls: AnyObject {
    /// Receives the outcome of a call: a reply that is not an error, or the failure.
    typealias Completion = (Result<RESPValue, RedisFailure>) -> Void

    /// Whether calls can be made; on a cluster to at least one master.
    var isReady: Bool { get }
    /// The most calls in flight on one connection.
    var callsMax: Int { get }
    /// The last failure of a connection, for logs; `nil` while none has failed.
    var lastFailure: RedisFailure? { get }
    /// The facts that the one server reported; `nil` while there is no connection, and on a cluster.
    var facts: ServerFacts? { get }
    /// Whether topics' channels are sharded and the keys of a call must lie in one slot: a cluster.
    var isSharded: Bool { get }
    /// The run id of the process that ran the call whose completion runs now; `nil` when it is not known.
    var writer: [UInt8]? { get }
    /// Whether every write is on disk before it is answered, as far as it is known.
    var syncsEveryWrite: Bool { get }
    /// The text that scripts for a key compare positions with; `nil` while its server is away.
    ///
    /// Only a cluster evaluates the key.
    func fence(of key: @autoclosure () -> [UInt8]) -> [UInt8]?
    /// Sends one call, on a cluster to the master of its first key.
    func call(_ call: RedisCall, _ completion: @escaping Completion)
    /// Calls a script, on a cluster at the master of its first key; calls of one `lane` run in the order they were
    /// made.
    func run(_ call: ScriptCall, lane: UInt64?, _ completion: @escaping Completion)
    /// Whether a call of the lane is in flight or waits.
    func isBusy(_ lane: UInt64) -> Bool
    /// Ends every connection; calls in flight fail.
    func stop()

    // MARK: By server

    /// The servers with a link: the masters of a cluster, or one with an empty id.
    var servers: [ServerID] { get }
    /// The link to a server, whether it is ready or not; `nil` when there is none.
    func link(to server: ServerID) -> CallLink?
    /// The facts that a server reported; `nil` without a connection, and on a cluster until the node is verified.
    func facts(of server: ServerID) -> ServerFacts?
    /// The address of a server for logs and metrics; `nil` for a node that is no master.
    func place(of server: ServerID) -> String?
    /// Asks a server again for its history, which a replica or a failover may have changed; called with each probe.
    func recheck(_ server: ServerID)
    /// Gives up the connection to a server and dials again: it does not answer, or is not the right one.
    func reconnect(_ server: ServerID, _ failure: RedisFailure)
    /// Leads the links to the servers of a placement; links that lead elsewhere end.
    func follow(_ placement: Placement)
}

extension RedisCalls {
    /// State of the link to a server.
    public func report(of server: ServerID) -> LinkReport {
        facts(of: server).map { .up(runID: $0.runID) } ?? .down(link(to: server)?.lastFailure)
    }

    /// Asks each server again for its history.
    public func recheckHistory() {
        for server in servers { recheck(server) }
    }
}
