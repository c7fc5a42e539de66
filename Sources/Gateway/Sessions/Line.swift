import Core
import Dialects

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
    /// One that is owed is taken beyond the queue's bound. A `mark` is this client's own and goes with the event, or not
    /// at all.
    func send(_ delivery: Delivery, _ encoding: Encoding, mark: WireUnit?, isOwed: Bool) -> Bool
    /// Sends events that many share as one unit; false, and nothing sent, when there is no room for all of them.
    func send(_ batch: DeliveryBatch, _ encoding: Encoding) -> Bool
    /// Says why and ends; a slow consumer is spared what it could not read. What comes later is not sent.
    func close(_ reason: CloseReason)
    /// The client has proven to be more than an open socket.
    func established()
    /// The peer's next deadline changed.
    func deadlineChanged()
}
