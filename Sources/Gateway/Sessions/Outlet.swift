import Core
import Dialects

/// How a session's words reach its client: WebSocket frames today, event streams and polling later.
///
/// It knows the dialect. Thread: the shard's.
protocol Outlet: AnyObject {
    /// The client's address; `nil` where it is not known. It pays for a client that shows nothing else.
    var address: IPAddress? { get }
    /// Sends one message, as one unit of the transport.
    func send(_ message: ServerMessage, ref: Reference?)
    /// Sends an event that many share; false when the client reads too slowly to take it.
    ///
    /// One that is owed is taken beyond the queue's bound.
    func send(_ delivery: Delivery, isOwed: Bool) -> Bool
    /// Sends events that many share as one unit; false, and nothing sent, when there is no room for all of them.
    func send(_ batch: DeliveryBatch) -> Bool
    /// Which operation a command with this reference is; `nil`: none can be told.
    func operation(of ref: Reference) -> OperationName?
    /// Ends the connection with a reason.
    func close(_ reason: CloseReason)
    /// The client has proven to be more than an open socket.
    func established()
    /// The session's next deadline changed.
    func deadlineChanged()
}
