public import Connections
public import Core
public import Dialects
public import Topics

extension EventDecoration {
    /// The bytes for the client.
    public func frame(_ shared: [UInt8], _ framing: Framing) -> [UInt8] {
        switch self {
        case .before(let mark): framing.frame([mark]) + shared
        case .instead(let units): framing.frame(units)
        }
    }
}

/// A transport, which carries units to and from one client: a WebSocket, an event stream or polling.
///
/// It knows bytes, time and the queue to its client, and nothing of the dialect. Thread: the shard's.
public protocol ClientTransport: AnyObject {
    /// The client's address; `nil` where it is not known. Its budget is charged for a client without other credentials.
    var address: IPAddress? { get }
    /// How it puts units on the wire.
    var framing: Framing { get }
    /// The peer that the transport serves; `nil` for an echo, and after the end.
    var peer: Peer? { get }
    /// The connection that takes events as they are encoded; `nil` where the transport does more with them.
    var eventConnection: Connection? { get }
    /// The items that have not been written, in order.
    var waitingItems: [OutboundItem] { get }
    /// The first of these that matches, found without a list of them.
    func firstWaiting(where matches: (OutboundItem) -> Bool) -> OutboundItem?
    /// The bytes that wait for the client.
    var load: QueueLoad { get }
    /// Sends one unit.
    func send(_ unit: WireUnit)
    /// Sends an event that many share; false when the client reads too slowly to take it.
    ///
    /// A backlog event (`isBacklog`) is queued beyond the queue's bound. `own` is sent with the event, or neither is
    /// sent.
    func send(_ delivery: Delivery, _ encoding: Encoding, own: EventDecoration?, isBacklog: Bool) -> Bool
    /// Sends the close reason and ends the connection; anything sent later is dropped.
    ///
    /// A slow consumer's unread events are discarded.
    func close(_ reason: CloseReason)
    /// The client has proven to be more than an open socket.
    func established()
    /// The peer's next deadline changed.
    func deadlineChanged()
}

extension ClientTransport {
    /// `nil`: events go through ``send(_:_:own:isBacklog:)``.
    public var eventConnection: Connection? { nil }

    /// None.
    public var waitingItems: [OutboundItem] { [] }

    /// None.
    public func firstWaiting(where matches: (OutboundItem) -> Bool) -> OutboundItem? { nil }
}
