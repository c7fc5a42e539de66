/// A link to the only server, as the links of a thread (``RedisLinks``).
extension CallLink {
    /// `false`: one server has all keys.
    public var isSharded: Bool { false }

    /// The one server's run id.
    public var writer: [UInt8]? { facts?.runID }

    /// Whether every write is on disk before it is answered.
    public var syncsEveryWrite: Bool { facts?.syncsEveryWrite ?? false }

    /// The server's fence, for any key.
    public func fence(of key: @autoclosure () -> [UInt8]) -> [UInt8]? { fence }

    /// The most calls that are in flight.
    public var callsMax: Int { target.inFlightMax }

    /// The only one, with an empty id.
    public var servers: [ServerID] { [[]] }

    /// This link.
    public func link(to server: ServerID) -> CallLink? { self }

    /// The facts that the server reported.
    public func facts(of server: ServerID) -> ServerFacts? { facts }

    /// The address of the present server.
    public func place(of server: ServerID) -> String? {
        (directory.map?.masters.first?.endpoint ?? target.url.endpoint).place
    }

    /// Asks the server again for its history.
    public func recheck(_ server: ServerID) { recheck() }

    /// Gives the connection up and dials again.
    public func reconnect(_ server: ServerID, _ failure: RedisFailure) { reconnect(failure) }

    /// Leaves the server when another is the master.
    public func follow(_ placement: Placement) {
        if case .servers(let map) = placement { directory.take(map) }
    }
}
