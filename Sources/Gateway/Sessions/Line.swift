import Core
import Dialects

/// What one client is sent of an event that many share.
enum OwnWords {
    /// A word before it, in the same bytes.
    case before(WireUnit)
    /// The client's own in its place.
    case instead([WireUnit])

    /// The bytes for the client.
    func frame(_ shared: [UInt8], _ framing: Framing) -> [UInt8] {
        switch self {
        case .before(let mark): framing.frame([mark]) + shared
        case .instead(let units): framing.frame(units)
        }
    }
}

/// How the words of a conversation travel to and from its client: a WebSocket, an event stream, polling.
///
/// It knows bytes, time and the queue to its client, and nothing of the dialect. Thread: the shard's.
protocol Line: AnyObject {
    /// The client's address; `nil` where it is not known. It pays for a client that shows nothing else.
    var address: IPAddress? { get }
    /// How it puts units on the wire.
    var framing: Framing { get }
    /// Who is spoken to; `nil` for an echo, and after the end.
    var peer: Peer? { get }
    /// Sends one unit.
    func send(_ unit: WireUnit)
    /// Sends an event that many share; false when the client reads too slowly to take it.
    ///
    /// One that is owed is taken beyond the queue's bound. What is this client's own goes with the event, or not at all.
    func send(_ delivery: Delivery, _ encoding: Encoding, own: OwnWords?, isOwed: Bool) -> Bool
    /// Sends events that many share as one unit; false, and nothing sent, when there is no room for all of them.
    func send(_ batch: DeliveryBatch, _ encoding: Encoding) -> Bool
    /// Says why and ends; a slow consumer is spared what it could not read. What comes later is not sent.
    func close(_ reason: CloseReason)
    /// The client has proven to be more than an open socket.
    func established()
    /// The peer's next deadline changed.
    func deadlineChanged()
}
