public import Connections
public import Core
import Dialects
import Reactors
import Service
public import Sessions
public import Topics

/// An endless HTTP response: records of an event stream, until either side ends it.
///
/// The end of the connection marks the end of the body, so that every proxy forwards it. Thread: the shard's.
public final class EventStreamTransport: ConnectionTransport {
    /// The services that it shares with the other transports of its shard.
    public let context: TransportContext
    /// The connection whose response the stream is.
    public let connection: Connection
    /// The peer that the transport serves; `nil` after the end.
    public private(set) var peer: Peer?

    /// The transport of a client whose request was granted; ``begin()`` sends the head of the response.
    public init(_ context: TransportContext, connection: Connection, peer: Peer) {
        self.context = context
        self.connection = connection
        self.peer = peer
    }

    /// Starts the peer, once the response's head is sent.
    public func begin() {
        context.open.opened(self, nowMs: context.clock.nowMs)
        peer?.begin(on: self)
        deadlineChanged()
    }

    // MARK: ConnectionHandler

    /// A client must send nothing after the request.
    public func received(_ bytes: Span<UInt8>) {
        close(.badRequest)
    }

    /// Passes the deadline to the peer, which alone has any.
    public func deadlineReached() {
        peer?.deadlineReached()
        deadlineChanged()
    }

    /// Logs the end, then ends the peer and its sessions.
    public func ended(_ reason: CloseReason) {
        logEnd(reason)
        peer?.ended(reason, waiting: waitingItems)
        peer = nil
        context.open.ended(self)
    }

    // MARK: Transport

    /// Records of an event stream.
    public var framing: Framing { .eventStream }

    /// Sends a last record `closed` with the reason; slow clients lose their queue.
    public func close(_ reason: CloseReason) {
        guard connection.isOpen else { return }
        if reason == .slowConsumer { peer?.discards(waitingItems) }
        peer?.closes(reason)
        let text = "event: closed\ndata: {\"event\":\"closed\",\"data\":{\"reason\":\"\(reason.rawValue)\"}}\n\n"
        connection.close(reason, last: Array(text.utf8), discarding: reason == .slowConsumer)
    }

    /// Sets the connection's deadline to the peer's.
    public func deadlineChanged() {
        connection.setDeadline(at: peer?.deadlineMs ?? Int.max)
    }
}
