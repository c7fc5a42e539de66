import Core
import Dialects
import Reactors
import Service
import Topics
import Transport

/// An endless HTTP response: records of an event stream, until either side ends it.
///
/// The end of the connection marks the end of the body, so that every proxy forwards it. Thread: the shard's.
final class EventStreamTransport: ConnectionTransport {
    let context: TransportContext
    let connection: Connection
    private(set) var peer: Peer?

    /// The transport of a client whose request was granted; ``begin()`` sends the head of the response.
    init(_ context: TransportContext, connection: Connection, peer: Peer) {
        self.context = context
        self.connection = connection
        self.peer = peer
    }

    /// Starts the peer, once the response's head is sent.
    func begin() {
        context.open.opened(self, nowMs: context.clock.nowMs)
        peer?.begin(on: self)
        deadlineChanged()
    }

    // MARK: ConnectionHandler

    /// A client must send nothing after the request.
    func received(_ bytes: Span<UInt8>) {
        close(.badRequest)
    }

    func deadlineReached() {
        peer?.deadlineReached()
        deadlineChanged()
    }

    func ended(_ reason: CloseReason) {
        logEnd(reason)
        peer?.ended()
        peer = nil
        context.open.ended(self)
    }

    // MARK: Transport

    var framing: Framing { .eventStream }

    func close(_ reason: CloseReason) {
        guard connection.isOpen else { return }
        let text = "event: closed\ndata: {\"event\":\"closed\",\"data\":{\"reason\":\"\(reason.rawValue)\"}}\n\n"
        connection.close(reason, last: Array(text.utf8), discarding: reason == .slowConsumer)
    }

    func deadlineChanged() {
        connection.setDeadline(at: peer?.deadlineMs ?? Int.max)
    }
}
