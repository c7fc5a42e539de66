import Connections
import Core
import Dialects
import Topics

/// The output of a session: messages and events for its client.
///
/// Thread: the shard's.
protocol SessionOutput: AnyObject {
    /// The client's address; `nil` where it is not known. Its budget is charged for a client without other credentials.
    var address: IPAddress? { get }
    /// The bytes that wait for the client.
    var load: QueueLoad { get }
    /// The name of the client's protocol.
    var dialectName: String { get }
    /// Number of topics that the other sessions of the connection hold.
    func topicsHeld(besides sessionID: SessionID) -> Int
    /// Sends a message through a client session; `ref` is that of the request it answers.
    func send(_ message: ServerMessage, at sessionID: SessionID, ref: Reference?)
    /// Sends an event that many share through a client session; false when the client reads too slowly to take it.
    ///
    /// A backlog event (`isBacklog`) is queued beyond the queue's bound.
    func send(_ delivery: Delivery, _ encoding: Encoding, at sessionID: SessionID, isBacklog: Bool) -> Bool
    /// Shows the wire of the connection to a tap from now on, in place of an earlier one.
    func show(to tap: WireTap)
    /// The position of the first event of a topic that waits for the client; `nil` when none waits.
    func firstWaiting(of topic: Topic) -> Position?
    /// Ends the connection with a reason.
    func close(_ reason: CloseReason)
    /// The client has proven to be more than an open socket.
    func established()
    /// A session's next deadline changed.
    func deadlineChanged()
}
