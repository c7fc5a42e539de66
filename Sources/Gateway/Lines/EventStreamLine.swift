import Core
import Dialects
import Reactors
import Transport

/// An HTTP answer that does not end: records of an event stream, until either side has enough.
///
/// Its length is told by the end of the connection, so that every proxy passes it on. Thread: the shard's.
final class EventStreamLine: ConnectionLine {
    let shard: Shard
    let connection: Connection
    private(set) var peer: Peer?

    /// A client whose request was granted; the answer's head is sent with ``begin()``.
    init(shard: Shard, connection: Connection, peer: Peer) {
        self.shard = shard
        self.connection = connection
        self.peer = peer
    }

    /// The request is answered: the client may be told what comes.
    func begin() {
        shard.joined(self)
        peer?.begin(on: self)
        deadlineChanged()
    }

    // MARK: ConnectionHandler

    /// Nothing may follow the request.
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
        shard.left(self)
    }

    // MARK: Line

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
