public import Core
internal import Reactors

/// A connection between two reactors: one has given it up, and the other has not taken it yet.
///
/// One that nobody takes closes its socket and gives its place back, on whichever thread lets it go.
///
/// It crosses threads, which the compiler cannot check: its socket and TLS are objects of one thread. It is sound because
/// ``Connection/depart()`` keeps none of them, its fields change in ``Connection/arrive(_:in:handler:)`` alone, and a
/// mailbox between the two orders what either thread does; a place is given back behind the admission's own lock.
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
    /// Where it has a place; `nil` when it has none, or when the place was taken over.
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
        tls = connection.tls
        admission = connection.isAdmitted ? connection.admission : nil
    }

    deinit {
        admission?.release(address, wasEstablished: isEstablished)
    }
}

/// How a connection goes from one reactor to another.
extension Connection {
    /// Gives the connection up for another reactor; its handler hears nothing more.
    ///
    /// `nil`, and nothing happens, unless it is a client's, open, and has nothing to write.
    public func depart() -> MovingConnection? {
        guard isOpen, isClient, outbound.queue.isEmpty, let token, let owned = descriptor.take() else { return nil }
        let moving = MovingConnection(self, owned)
        handler = nil
        tls = nil
        admission = nil
        isAdmitted = false
        phase = .over
        context.reactor.remove(token)
        return moving
    }

    /// Takes a connection that another reactor has given up; `nil` when the kernel has no room for another watch.
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
        moving.tls = nil
        connection.token = token
        connection.phase = .open
        context.statistics.open.add(1)
        // The peer's bytes may lie in TLS already; epoll does not see those.
        if connection.tls?.holdsInput == true { context.reactor.markReadable(token) }
        return connection
    }
}
