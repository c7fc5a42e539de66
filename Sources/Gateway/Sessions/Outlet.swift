import Core
import Dialects

/// How a session's words reach its client: WebSocket frames today, event streams and polling later.
///
/// Thread: the shard's.
protocol Outlet: AnyObject {
    /// Sends one message encoded by the session's dialect, as one unit of the transport.
    func send(_ payload: [UInt8])
    /// Sends an event that many share, in the session's dialect and under its number; false when the client reads too
    /// slowly to take it.
    ///
    /// One that is owed is taken beyond the queue's bound.
    func send(_ delivery: Delivery, variant: Int, dialect: any Dialect, isOwed: Bool) -> Bool
    /// Sends events that many share as one unit; false, and nothing sent, when there is no room for all of them.
    func send(_ batch: DeliveryBatch, variant: Int, dialect: any Dialect) -> Bool
    /// Ends the connection with a reason.
    func close(_ reason: CloseReason)
    /// The client has proven to be more than an open socket.
    func established()
    /// The session's next deadline changed.
    func deadlineChanged()
}
