internal import COpenSSL
public import Core
public import Reactors

/// What a client keeps of its last TLS session with a server, to resume it with the next connection (RFC 8446
/// section 2.2).
///
/// It belongs to one context and one name, since neither the chain nor the name is checked again when a session is
/// resumed: it is never offered to a server that was not verified in the same way. Thread: its connections'.
@safe public final class TLSClientSession {
    let context: TLSContext
    /// The name the server's certificate is valid for; empty for one that is not verified.
    public let name: String
    private var saved: OpaquePointer?

    /// Nothing to resume yet.
    public init(_ context: TLSContext, name: String) {
        self.context = context
        self.name = name
    }

    deinit {
        unsafe SSL_SESSION_free(saved)
    }

    /// Offers the saved session to a connection that has not begun its handshake.
    ///
    /// A copy, since a connection that breaks marks its session as not resumable (SSL_CTX_remove_session(3)).
    func offer(to tls: TLSSession) {
        guard let saved = unsafe saved, let copy = unsafe SSL_SESSION_dup(saved) else { return }
        _ = unsafe SSL_set_session(tls.ssl, copy)
        unsafe SSL_SESSION_free(copy)
    }

    /// Takes a copy of the session as it is now; nothing when it cannot be resumed.
    func save(from tls: TLSSession) {
        guard let current = unsafe SSL_get_session(tls.ssl), unsafe SSL_SESSION_is_resumable(current) == 1,
            let copy = unsafe SSL_SESSION_dup(current)
        else { return }
        unsafe SSL_SESSION_free(saved)
        unsafe saved = copy
    }
}

@available(*, unavailable)
extension TLSClientSession: Sendable {}

/// What only clients do.
extension Connection {
    /// Connects over TLS to the server a session is kept for, and offers the session.
    public static func connect(
        _ context: ConnectionContext, to endpoint: Endpoint, from source: IPAddress? = nil,
        resuming session: TLSClientSession, outboundBytesMax: Int, handler: any ConnectionHandler
    ) throws(Errno) -> Connection {
        let connection = try connect(
            context, to: endpoint, from: source, tls: session.context, name: session.name,
            outboundBytesMax: outboundBytesMax,
            handler: handler)
        if let tls = connection.tls { session.offer(to: tls) }
        return connection
    }

    /// Keeps the session for the next connection; to be called after the first bytes came, since servers of TLS 1.3
    /// send their tickets ahead of them.
    public func saveSession(in session: TLSClientSession) {
        if let tls, tls.isEstablished { session.save(from: tls) }
    }

    /// Whether the TLS handshake resumed an earlier session.
    public var wasTLSResumed: Bool { tls?.wasResumed ?? false }

    /// Lets the kernel keep only about so many bytes that were not read (SO_RCVBUF, socket(7)).
    public func limitReceiveBuffer(_ bytes: Int) {
        Sockets.limitReceiveBuffer(raw, bytes)
    }

    /// Ends the connection at once with a TCP reset; what is queued or unsent is lost.
    public func reset(_ reason: CloseReason) {
        guard token != nil else { return }
        Sockets.resetOnClose(raw)
        abort(reason)
    }
}
