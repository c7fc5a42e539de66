/// The links of a thread for calls, server by server, for the owner who leads and watches them.
///
/// Thread: the reactor's.
public protocol RedisLinks: RedisCalls {
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

extension RedisLinks {
    /// State of the link to a server.
    public func report(of server: ServerID) -> LinkReport {
        facts(of: server).map { .up(runID: $0.runID) } ?? .down(link(to: server)?.lastFailure)
    }

    /// Asks each server again for its history.
    public func recheckHistory() {
        for server in servers { recheck(server) }
    }
}
