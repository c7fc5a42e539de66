public import Core
internal import Reactors

/// A connection between two reactors: one has released it, and the other has not accepted it yet.
///
/// If no reactor accepts it, its release closes the socket and returns its place, on any thread.
///
/// It crosses threads, which the compiler cannot check: its socket and TLS are objects of one thread. It is sound
/// because ``Connection/depart()`` keeps none of them, and its fields change in ``Connection/arrive(_:in:handler:)``
/// alone. A mailbox between the two orders the actions of both threads, and the admission's own lock guards the return
/// of a place.
public final class MovingConnection: @unchecked Sendable {
    /// The client's address.
    public let address: IPAddress?
    let raw: Int32
    let isEstablished: Bool
    let needsTLS: Bool
    let number: Int
    let openedMs: Int
    let bytes: (read: Int, written: Int)
    var descriptor: FileDescriptor?
    var tls: TLSSession?
    /// The admission that granted its place; `nil` when it has none, or when the place was taken over.
    var admission: (any Admission)?

    init(_ connection: Connection, _ descriptor: consuming FileDescriptor) {
        address = connection.address
        raw = connection.raw
        isEstablished = connection.isEstablished
        needsTLS = connection.needsTLS
        number = connection.number
        openedMs = connection.openedMs
        bytes = (connection.bytesIn, connection.bytesOut)
        self.descriptor = consume descriptor
        tls = connection.tls.take()
        admission = connection.isAdmitted ? connection.admission : nil
    }

    deinit {
        admission?.release(address, wasEstablished: isEstablished)
    }
}

/// The move of a connection from one reactor to another.
extension Connection {
    /// Releases the connection for another reactor; its handler receives no more calls.
    ///
    /// `nil`, without effect, unless it is a client's, open, and has nothing to write.
    public func depart() -> MovingConnection? {
        guard isOpen, isClient, outbound.queue.isEmpty, let token, let owned = descriptor.take() else { return nil }
        let moving = MovingConnection(self, owned)
        handler = nil
        admission = nil
        isAdmitted = false
        phase = .over
        context.reactor.remove(token)
        return moving
    }

    /// Accepts a connection that another reactor has released; `nil` when the kernel has no room for another watch.
    public static func arrive(
        _ moving: MovingConnection, in context: ConnectionContext, handler: any ConnectionHandler
    ) -> Connection? {
        guard let descriptor = moving.descriptor.take() else { return nil }
        let connection = Connection(context: context, moving, descriptor, handler: handler)
        guard
            let token = try? context.reactor.add(connection, descriptor: connection.raw, interest: .read)
        else { return nil }
        connection.admission = moving.admission
        connection.isAdmitted = moving.admission != nil
        moving.admission = nil
        connection.token = token
        connection.phase = .open
        context.statistics.open.add(1)
        // TLS may already hold bytes of the peer, which epoll does not report.
        if connection.tls?.holdsInput == true { context.reactor.markReadable(token) }
        return connection
    }
}
