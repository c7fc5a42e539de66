internal import COpenSSL
internal import Foundation
internal import Glibc
internal import SwitchboardClient

/// A TCP connection, with TLS or without.
///
/// Thread: the one that made it.
@safe final class ByteLink {
    /// The result of an attempt to read or write.
    enum Outcome {
        /// The number of bytes read or written, at least 1.
        case bytes(Int)
        /// Nothing yet; wait for these events of poll(2).
        case wait(Int16)
        /// The connection has ended.
        case over
    }

    /// The socket, which does not block; closed with this object.
    let descriptor: Int32
    private var context: OpaquePointer?
    private var tls: OpaquePointer?

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit {
        unsafe SSL_free(tls)
        unsafe SSL_CTX_free(context)
        close(descriptor)
    }

    /// The reason why there is no connection.
    struct Failure: Error {
        /// The code that the status reports.
        let code: ConnectionStatus.Reason.Code
        /// The description.
        let message: String
    }

    /// Connects to the first address that answers.
    ///
    /// `isOver` is called while it waits.
    static func dial(_ host: String, _ port: Int, isOver: () -> Bool) throws(Failure) -> ByteLink {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let fault = unsafe getaddrinfo(host, String(port), &hints, &found)
        guard fault == 0 else {
            throw unsafe Failure(code: .unresolved, message: "\(host): \(String(cString: gai_strerror(fault)))")
        }
        defer { unsafe freeaddrinfo(found) }
        var last = ETIMEDOUT
        var next = unsafe found
        while let address = unsafe next, !isOver() {
            unsafe next = address.pointee.ai_next
            let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
            let descriptor = unsafe socket(address.pointee.ai_family, kind, 0)
            guard descriptor >= 0 else { continue }
            let link = ByteLink(descriptor)
            let answer = unsafe connect(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen)
            guard answer == 0 || errno == EINPROGRESS else {
                last = errno
                continue
            }
            // An address that does not answer must not prevent attempts at the others.
            let looks = unsafe next == nil ? Int.max : ByteLink.looksMax
            guard link.wait(Int16(POLLOUT), looks: looks, isOver: isOver) else { continue }
            var failure: Int32 = 0
            var size = socklen_t(MemoryLayout<Int32>.size)
            unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &failure, &size)
            guard failure == 0 else {
                last = failure
                continue
            }
            var one: Int32 = 1
            unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, size)
            return link
        }
        throw unsafe Failure(code: .unreachable, message: "\(host), port \(port): \(String(cString: strerror(last)))")
    }

    /// Tenths of a second to wait for one of several addresses.
    ///
    /// 2.5 s: three fit into the 10 s that a client allows for a dial.
    private static let looksMax = 25

    /// Waits for events up to `looks` tenths of a second, and calls `isOver` between them.
    private func wait(_ events: Int16, looks: Int = .max, isOver: () -> Bool) -> Bool {
        var entry = pollfd(fd: descriptor, events: events, revents: 0)
        var left = looks
        while left > 0, !isOver() {
            if unsafe poll(&entry, 1, 100) > 0 { return true }
            left -= 1
        }
        return false
    }

    /// The TLS handshake; the chain and the name are verified.
    func secure(_ host: String, trusting file: String?, isOver: () -> Bool) throws(Failure) {
        unsafe context = SSL_CTX_new(TLS_client_method())
        guard let context = unsafe context, unsafe swb_configure_common(context) == 1 else {
            throw Failure(code: .unreachable, message: "There is no TLS here.")
        }
        let isTrusting =
            if let file {
                unsafe SSL_CTX_load_verify_locations(context, file, nil)
            } else {
                unsafe SSL_CTX_set_default_verify_paths(context)
            }
        var address = in6_addr()
        let isAddress = unsafe inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1
        guard isTrusting == 1, let tls = unsafe SSL_new(context) else {
            throw Failure(code: .untrusted, message: "The trusted certificates cannot be read.")
        }
        unsafe self.tls = tls
        guard unsafe swb_expect_name(tls, host, isAddress ? 1 : 0) == 1, unsafe swb_offer_http11(tls) == 0,
            unsafe SSL_set_fd(tls, descriptor) == 1
        else { throw Failure(code: .badAddress, message: "There is no TLS for \(host).") }
        while !isOver() {
            let answer = unsafe SSL_connect(tls)
            if answer == 1 { return }
            guard case .wait(let events) = outcome(answer), wait(events, isOver: isOver) else {
                throw tlsFailure
            }
        }
        throw Failure(code: .noAnswer, message: "The TLS handshake took too long.")
    }

    /// The reason why the handshake failed.
    private var tlsFailure: Failure {
        let text = unsafe String(cString: swb_take_tls_error())
        let verified = unsafe SSL_get_verify_result(tls)
        if verified != Int(X509_V_OK) {
            let why = unsafe String(cString: X509_verify_cert_error_string(verified))
            return Failure(code: .untrusted, message: "The certificate is not trusted: \(why).")
        }
        // OpenSSL reports plain bytes as a TLS record of a wrong version or length.
        if ["wrong version", "packet length", "record"].contains(where: text.contains) {
            return Failure(code: .notTLS, message: "The port speaks no TLS; without it an address begins with ws://.")
        }
        return Failure(code: .unreachable, message: "The TLS handshake failed: \(text).")
    }

    private func outcome(_ answer: Int32) -> Outcome {
        if answer > 0 { return .bytes(Int(answer)) }
        switch unsafe SSL_get_error(tls, answer) {
        case SSL_ERROR_WANT_READ: return .wait(Int16(POLLIN))
        case SSL_ERROR_WANT_WRITE: return .wait(Int16(POLLOUT))
        default: return .over
        }
    }

    private func outcome(_ answer: Int, _ events: Int32) -> Outcome {
        if answer > 0 { return .bytes(answer) }
        let isEarly = answer < 0 && (errno == EAGAIN || errno == EINTR)
        return isEarly ? .wait(Int16(events)) : .over
    }

    /// Reads available bytes into the buffer.
    func read(_ buffer: inout [UInt8]) -> Outcome {
        unsafe buffer.withUnsafeMutableBytes { bytes in
            if let tls = unsafe tls {
                return outcome(unsafe SSL_read(tls, bytes.baseAddress, Int32(bytes.count)))
            }
            return outcome(unsafe recv(descriptor, bytes.baseAddress, bytes.count, 0), POLLIN)
        }
    }

    /// Writes as many of the bytes as possible.
    func write(_ bytes: ArraySlice<UInt8>) -> Outcome {
        unsafe bytes.withUnsafeBytes { bytes in
            if let tls = unsafe tls {
                return outcome(unsafe SSL_write(tls, bytes.baseAddress, Int32(min(bytes.count, 65_536))))
            }
            return outcome(unsafe send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)), POLLOUT)
        }
    }

    /// The base64 of a text's SHA-1, as required by the WebSocket handshake (RFC 6455 section 4.2.2).
    static func proof(of text: String) -> String {
        let bytes = Array(text.utf8)
        var digest = [UInt8](repeating: 0, count: 20)
        _ = unsafe SHA1(bytes, bytes.count, &digest)
        return Data(digest).base64EncodedString()
    }

    /// Waits until the link can be read or written, or another thread calls `wake`; then resets the waker.
    func pause(isWriting: Bool, waker: Waker, atMostMs: Int32) {
        let events = Int16(isWriting ? POLLIN | POLLOUT : POLLIN)
        var entries = [
            pollfd(fd: descriptor, events: events, revents: 0),
            pollfd(fd: waker.reading, events: Int16(POLLIN), revents: 0),
        ]
        _ = unsafe poll(&entries, 2, atMostMs)
        var bytes = [UInt8](repeating: 0, count: 64)
        while unsafe Glibc.read(waker.reading, &bytes, bytes.count) == bytes.count {}
    }

    /// Blocks SIGPIPE: a write to a broken TLS connection must not end the process.
    static func ignoreBrokenPipes() {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGPIPE)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}

/// A socket pair that wakes a thread.
struct Waker: Sendable {
    /// The end to wait at.
    let reading: Int32
    private let writing: Int32

    /// Two ends that do not block, both -1 where the process has no descriptor left.
    init() {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        _ = unsafe socketpair(AF_UNIX, kind, 0, &ends)
        (reading, writing) = (ends[0], ends[1])
    }

    /// Wakes the thread; a full socket means that it is awake already.
    func wake() {
        var one: UInt8 = 1
        _ = unsafe send(writing, &one, 1, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    }

    /// Closes both ends.
    func stop() {
        close(reading)
        close(writing)
    }
}

@available(*, unavailable)
extension ByteLink: Sendable {}
