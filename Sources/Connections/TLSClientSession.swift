internal import COpenSSL
public import Core
public import Reactors

/// A client's last TLS session with a server, for resumption by the next connection (RFC 8446 section 2.2).
///
/// It belongs to one context and one name, since a resumption checks neither the chain nor the name again. So it is
/// never offered to a server that was not verified in the same way. Thread: its connections'.
@safe public final class TLSClientSession {
    let context: TLSContext
    /// The name the server's certificate is valid for; empty for one that is not verified.
    public let name: String
    private var saved: OpaquePointer?

    /// A store without a session.
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
    func offer(to tls: borrowing TLSSession) {
        guard let saved = unsafe saved, let copy = unsafe SSL_SESSION_dup(saved) else { return }
        _ = unsafe SSL_set_session(tls.ssl, copy)
        unsafe SSL_SESSION_free(copy)
    }

    /// Stores a copy of the present session; does nothing when it cannot be resumed.
    func save(from tls: borrowing TLSSession) {
        guard tls.isEstablished, let current = unsafe SSL_get_session(tls.ssl),
            unsafe SSL_SESSION_is_resumable(current) == 1, let copy = unsafe SSL_SESSION_dup(current)
        else { return }
        unsafe SSL_SESSION_free(saved)
        unsafe saved = copy
    }
}

@available(*, unavailable)
extension TLSClientSession: Sendable {}

extension TLSSession {
    /// Resumes the session of the store, if it has one.
    func takes(_ session: TLSClientSession) { session.offer(to: self) }

    /// Stores the present session.
    func gives(_ session: TLSClientSession) { session.save(from: self) }
}

/// Functions for clients only.
extension Connection {
    /// Connects over TLS to the server of a stored session, and offers the session.
    public static func connect(
        _ context: ConnectionContext, to endpoint: Endpoint, from source: IPAddress? = nil,
        resuming session: TLSClientSession, outboundBytesMax: Int, handler: any ConnectionHandler
    ) throws(Errno) -> Connection {
        let connection = try connect(
            context, to: endpoint, from: source, tls: session.context, name: session.name,
            outboundBytesMax: outboundBytesMax,
            handler: handler)
        connection.tls?.takes(session)
        return connection
    }

    /// Stores the session for the next connection.
    ///
    /// To be called after the first bytes were received, since servers of TLS 1.3 send their tickets before them.
    public func saveSession(in session: TLSClientSession) {
        tls?.gives(session)
    }

    /// Whether the TLS handshake resumed an earlier session.
    public var wasTLSResumed: Bool { tls?.wasResumed ?? false }

    /// Lets the kernel store only about so many unread bytes (SO_RCVBUF, socket(7)).
    public func limitReceiveBuffer(_ bytes: Int) {
        Sockets.limitReceiveBuffer(raw, bytes)
    }

    /// Ends the connection at once with a TCP reset; queued and unsent bytes are lost.
    public func reset(_ reason: CloseReason) {
        guard token != nil else { return }
        Sockets.resetOnClose(raw)
        abort(reason)
    }
}
