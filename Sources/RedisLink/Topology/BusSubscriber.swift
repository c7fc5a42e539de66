/// The links of a thread that receive channels, from wherever the channels are.
///
/// Thread: the reactor's.
public protocol BusSubscriber: AnyObject {
    /// Wants a channel; returns `true` when it is live already, otherwise the owner is notified later.
    func want(_ channel: [UInt8]) -> Bool
    /// Stops wanting a channel.
    func unwant(_ channel: [UInt8])
    /// Sends the subscriptions and unsubscriptions that this tick has gathered; called once in each tick.
    func flush()
    /// State of the link to a server.
    func report(of server: ServerID) -> LinkReport
    /// Gives up the connection to a server and dials again.
    func reconnect(_ server: ServerID, _ failure: RedisFailure)
    /// Leads the links to the servers of a placement; links that lead elsewhere end.
    func follow(_ placement: Placement)
    /// Ends every link.
    func stop()
}

/// The callbacks of the links that receive channels.
///
/// Thread: the reactor's.
public protocol BusSubscriberOwner: AnyObject {
    /// A channel is live from now on, for the first time or again; earlier messages may have been missed.
    func channelLive(_ channel: [UInt8])
    /// A message arrived on a channel.
    func channelMessage(_ channel: [UInt8], _ payload: [UInt8])
    /// Channels are no longer live; each is reported live again later.
    func channelsLost(_ channels: [[UInt8]], _ failure: RedisFailure)
    /// The only connection was lost with every channel; each is reported live again later.
    func allChannelsLost(_ failure: RedisFailure)
    /// The link to a server was connected or lost.
    func linkChanged(_ server: ServerID)
    /// A link asks for the placement, which ``BusSubscriber/follow(_:)`` takes.
    func hint(_ hint: ServerHint)
    /// A link is made; returns the figures in which it counts. `address` is `nil` unless it leads to a master of a cluster.
    func linkMade(_ name: String, to address: ClusterAddress?) -> RedisStatistics
}

/// A server that channels come from.
public struct BusServer: Equatable, Sendable {
    /// Its id; empty for the only one.
    public let id: ServerID
    /// Its address as a master of a cluster; `nil` for the only server.
    public let address: ClusterAddress?
    /// Its slots in order; empty for the only server, which has all channels.
    public let slots: [ClosedRange<Int>]

    /// Takes the parts.
    public init(id: ServerID, address: ClusterAddress?, slots: [ClosedRange<Int>]) {
        self.id = id
        self.address = address
        self.slots = slots
    }
}

extension RedisTopology {
    /// The servers that channels come from at a placement; on a cluster none before the first map.
    public func servers(at placement: Placement?) -> [BusServer] {
        guard isSharded else { return [BusServer(id: [], address: nil, slots: [])] }
        guard case .slots(let map)? = placement else { return [] }
        return map.masters.map { BusServer(id: $0.id, address: $0.address, slots: map.slots(of: $0.id)) }
    }
}
