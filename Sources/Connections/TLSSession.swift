internal import COpenSSL
internal import Core

/// One TLS connection over a socket, a part of the ``Connection`` that owns it.
///
/// Follows the rules of OpenSSL that are easy to break: the error queue is empty before each call; a retried write
/// repeats the same bytes; both kinds of "want" come from either direction; nothing is called after a fatal error.
@safe struct TLSSession: ~Copyable {
    enum Outcome {
        /// The number of bytes moved; more than 0.
        case moved(Int)
        /// Nothing moved; try again when the socket is readable.
        case wantsRead
        /// Nothing moved; try again when the socket is writable.
        case wantsWrite
        /// The peer ended the stream properly (close_notify).
        case ended
        /// The stream broke: the peer disconnected without close_notify.
        case truncated
        /// TLS itself failed; the reason is for logs.
        case failed(String)
    }

    let ssl: OpaquePointer
    private var isBroken = false
    /// Whether the handshake is complete.
    private(set) var isEstablished = false

    /// A server's session on an accepted socket.
    init?(server context: TLSContext, descriptor: Int32) {
        guard let made = unsafe TLSSession.make(context, descriptor) else { return nil }
        unsafe SSL_set_accept_state(made)
        unsafe ssl = made
    }

    /// A client's session; the certificate must be valid for the name.
    ///
    /// An empty name skips verification, which only the command-line tools' `--insecure` requests.
    init?(client context: TLSContext, descriptor: Int32, name: String) {
        guard let made = unsafe TLSSession.make(context, descriptor) else { return nil }
        let isAddress: Int32 = IPAddress(text: name.utf8) == nil ? 0 : 1
        guard unsafe name.isEmpty || swb_expect_name(made, name, isAddress) == 1 else {
            unsafe SSL_free(made)
            return nil
        }
        unsafe SSL_set_connect_state(made)
        unsafe ssl = made
    }

    private static func make(_ context: TLSContext, _ descriptor: Int32) -> OpaquePointer? {
        guard let made = unsafe SSL_new(context.context) else { return nil }
        if unsafe SSL_set_fd(made, descriptor) == 1 { return unsafe made }
        unsafe SSL_free(made)
        return nil
    }

    deinit {
        unsafe SSL_free(ssl)
    }

    /// Continues the handshake; `.moved(0)` when it is complete.
    mutating func handshake() -> Outcome {
        ERR_clear_error()
        let result = unsafe SSL_do_handshake(ssl)
        guard result == 1 else { return outcome(result) }
        isEstablished = true
        return .moved(0)
    }

    /// Whether the handshake has no whole hello of the peer yet, so that the next step answers it.
    var awaitsHello: Bool {
        let state = unsafe SSL_get_state(ssl)
        return state == TLS_ST_BEFORE || state == TLS_ST_SR_CLNT_HELLO
    }

    /// Whether the finished handshake resumed an earlier session.
    var wasResumed: Bool { unsafe SSL_session_reused(ssl) == 1 }

    /// Decrypts into the buffer.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
        ERR_clear_error()
        let result = unsafe SSL_read(ssl, buffer.baseAddress, Int32(clamping: buffer.count))
        return result > 0 ? .moved(Int(result)) : outcome(result)
    }

    /// Whether bytes of the peer were taken from the socket and not read yet; a whole record or a part of one.
    var holdsInput: Bool { unsafe SSL_has_pending(ssl) == 1 }

    /// Encrypts and sends; may move fewer bytes than given.
    ///
    /// The thread's error queue must be empty: call ``forgetErrors()`` once before many writes, since other code may
    /// have used OpenSSL; a write that fails leaves no errors.
    mutating func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        let result = unsafe SSL_write(ssl, bytes.baseAddress, Int32(clamping: bytes.count))
        return result > 0 ? .moved(Int(result)) : outcome(result)
    }

    /// Sends close_notify once, without waiting for the peer's (never after a fatal error: SSL_shutdown(3)).
    func sendCloseNotify() {
        guard isEstablished, !isBroken else { return }
        ERR_clear_error()
        _ = unsafe SSL_shutdown(ssl)
        ERR_clear_error()
    }

    /// Empties the thread's error queue, by which OpenSSL distinguishes a failure from a wait (SSL_get_error(3)).
    static func forgetErrors() {
        ERR_clear_error()
    }

    private mutating func outcome(_ result: Int32) -> Outcome {
        switch unsafe SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ: return .wantsRead
        case SSL_ERROR_WANT_WRITE: return .wantsWrite
        case SSL_ERROR_ZERO_RETURN: return .ended
        case SSL_ERROR_SYSCALL:
            isBroken = true
            ERR_clear_error()
            return .truncated
        default:
            isBroken = true
            if swb_is_unexpected_eof() == 1 {
                ERR_clear_error()
                return .truncated
            }
            return .failed(unsafe String(cString: swb_take_tls_error()))
        }
    }
}
