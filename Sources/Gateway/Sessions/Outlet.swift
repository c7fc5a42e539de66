import Core
import Dialects

/// What a session tells its client by, and hands events to.
///
/// Thread: the shard's.
protocol Outlet: AnyObject {
    /// The client's address; `nil` where it is not known. It pays for a client that shows nothing else.
    var address: IPAddress? { get }
    /// How many topics the other sessions of the connection hold.
    func topicsHeld(besides door: Door) -> Int
    /// Tells the client something through a door; `ref` is that of the request it answers.
    func tell(_ message: ServerMessage, at door: Door, ref: Reference?)
    /// Hands over events that the client asked for by the clock; the topic is joined behind that position next.
    func replayed(
        _ events: [ChannelMessage], of topic: Topic, upTo position: Position, at door: Door, ref: Reference?)
    /// Sends an event that many share through a door; false when the client reads too slowly to take it.
    ///
    /// One that is owed is taken beyond the queue's bound.
    func send(_ delivery: Delivery, _ encoding: Encoding, at door: Door, isOwed: Bool) -> Bool
    /// Sends events that many share as one unit; false, and nothing sent, when there is no room for all of them.
    func send(_ batch: DeliveryBatch, _ encoding: Encoding) -> Bool
    /// Which operation a command with this reference is; `nil`: none can be told.
    func operation(of ref: Reference) -> OperationName?
    /// Ends the connection with a reason.
    func close(_ reason: CloseReason)
    /// The client has proven to be more than an open socket.
    func established()
    /// A session's next deadline changed.
    func deadlineChanged()
}
