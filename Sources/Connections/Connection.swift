public import Core
public import Reactors

/// The events of a connection, for its owner.
///
/// Thread: the reactor's.
public protocol ConnectionHandler: AnyObject {
    /// The connection was accepted: its handler may read the address when it ends before ``opened(_:)``.
    ///
    /// On a plain listener this call follows ``opened(_:)``.
    func accepted(_ connection: Connection)
    /// Bytes can be sent and received: the TCP connection exists and TLS, if any, is established.
    func opened(_ connection: Connection)
    /// Bytes were received; the handler takes all of them before it returns.
    func received(_ bytes: Span<UInt8>)
    /// The deadline set with ``Connection/setDeadline(at:)`` has passed.
    func deadlineReached()
    /// The peer reads too slowly for a bound; `true` when the handler has thinned the queue so that it may stay open.
    ///
    /// Unless the handler closes the connection itself, it is then closed without a message, or at the bound in bytes
    /// the frame is refused. The call may come from any ``Connection/send(_:)`` to any connection of the reactor.
    func readTooSlowly(_ bound: OutboundBound) -> Bool
    /// The connection has ended for the handler; its last call, never from inside another of its calls.
    func ended(_ reason: CloseReason)
}

extension ConnectionHandler {
    /// Does nothing: most handlers need no address before the connection is open.
    public func accepted(_ connection: Connection) {}

    /// `false`: most handlers thin nothing.
    public func readTooSlowly(_ bound: OutboundBound) -> Bool { false }
}

/// One byte stream: a client's, or the gateway's to Redis.
///
/// TCP or unix socket, plain or TLS, behind a PROXY header or not.
///
/// Writes are queued by reference and flushed once per tick. Closing flushes, half-closes and lingers until the peer
/// has read everything, so that no last message is lost to a reset. Thread: the reactor's.
public final class Connection: EventSource {
    enum Phase {
        case connecting
        case proxyHeader(ProxyHeader)
        case handshaking
        case open
        /// Closing: queued frames are still written.
        case finishing
        /// Half-closed: waiting for the peer's end.
        case lingering
        case over

        var isOpen: Bool {
            if case .open = self { return true }
            return false
        }
    }

    // A delivery to a connection that has been silent finds nothing of it in the processor's caches. So the fields that
    // a delivery and its write use stand first and together, and the flags in the padding of the token.
    let context: ConnectionContext
    var token: EventToken?
    /// Whether the peer is a client, and not a server.
    let isClient: Bool
    let needsTLS: Bool
    var isAdmitted = false
    var isEstablished = false
    var isReadPaused = false
    /// Whether the handshake waits for its budget.
    var isWaitingForTurn = false
    var endReason: CloseReason?
    var phase: Phase {
        didSet { outbound.isOpen = phase.isOpen }
    }
    var tls: TLSSession?
    let raw: Int32
    var outbound = Outbound()
    /// Bytes written, before encryption.
    public internal(set) var bytesOut = 0
    let outboundBytesMax: Int
    var phaseDeadlineMs = Int.max
    var handlerDeadlineMs = Int.max
    var handler: (any ConnectionHandler)?
    /// Bytes read, after decryption.
    public internal(set) var bytesIn = 0
    var descriptor: FileDescriptor?
    var admission: (any Admission)?
    /// The peer's address; behind a balancer the one of its PROXY header; `nil` for a unix socket.
    public internal(set) var address: IPAddress?
    /// The reason why a client connection failed, for logs; empty without a failure.
    public internal(set) var failureText = ""
    /// A number for logs, which its owner sets.
    public var number = 0
    /// When the connection was opened, monotonic milliseconds; its owner sets it.
    public var openedMs = 0
    /// Bytes that waited for the peer when the end of the connection began.
    public private(set) var bytesUnsent = 0

    /// Reads per tick, so that one busy peer does not starve the others.
    static let readsPerTick = 4
    /// Bytes written per tick for the same reason.
    static let bytesPerFlush = 1_048_576

    // MARK: Beginning

    /// Takes an accepted connection; `tls` nil for plain, `expectsProxyHeader` when a balancer speaks first.
    init(
        context: ConnectionContext, accepted: consuming Accepted, tls: TLSContext?, expectsProxyHeader: Bool,
        admission: any Admission, handler: any ConnectionHandler
    ) {
        self.context = context
        outboundBytesMax = context.limits.outboundBytesMax
        address = accepted.address
        raw = accepted.descriptor.raw
        descriptor = consume accepted.descriptor
        self.admission = admission
        isClient = true
        self.handler = handler
        phase = expectsProxyHeader ? .proxyHeader(ProxyHeader()) : .handshaking
        if let tls { self.tls = TLSSession(server: tls, descriptor: raw) }
        needsTLS = tls != nil
    }

    /// Starts watching; `false` when the kernel has no room for another watch.
    func start() -> Bool {
        guard !needsTLS || tls != nil, let token = try? context.reactor.add(self, descriptor: raw, interest: .read)
        else { return false }
        context.statistics.open.add(1)
        self.token = token
        phaseDeadlineMs = context.reactor.nowMs + context.limits.handshakeMs
        updateDeadline()
        if case .proxyHeader = phase { return true }
        admit()
        return true
    }

    /// Connects to a server; the handler receives `opened` or `ended`.
    ///
    /// With TLS the certificate must fit `name`. The kernel chooses the `source` address when none is given.
    public static func connect(
        _ context: ConnectionContext, to endpoint: Endpoint, from source: IPAddress? = nil, tls: TLSContext?,
        name: String, outboundBytesMax: Int, handler: any ConnectionHandler
    ) throws(Errno) -> Connection {
        let connection = Connection(
            context: context, connecting: try Sockets.connect(endpoint, from: source), tls: tls, name: name,
            outboundBytesMax: outboundBytesMax, handler: handler)
        connection.token = try context.reactor.add(connection, descriptor: connection.raw, interest: .write)
        context.statistics.open.add(1)
        return connection
    }

    init(
        context: ConnectionContext, connecting descriptor: consuming FileDescriptor, tls: TLSContext?, name: String,
        outboundBytesMax: Int, handler: any ConnectionHandler
    ) {
        self.context = context
        self.outboundBytesMax = outboundBytesMax
        raw = descriptor.raw
        self.descriptor = consume descriptor
        isClient = false
        self.handler = handler
        phase = .connecting
        if let tls { self.tls = TLSSession(client: tls, descriptor: raw, name: name) }
        needsTLS = tls != nil
    }

    init(
        context: ConnectionContext, _ moving: MovingConnection, _ descriptor: consuming FileDescriptor,
        handler: any ConnectionHandler
    ) {
        self.context = context
        outboundBytesMax = context.limits.outboundBytesMax
        address = moving.address
        raw = moving.raw
        self.descriptor = consume descriptor
        isClient = true
        isEstablished = moving.isEstablished
        self.handler = handler
        tls = moving.tls.take()
        needsTLS = moving.needsTLS
        (number, openedMs) = (moving.number, moving.openedMs)
        (bytesIn, bytesOut) = moving.bytes
        phase = .handshaking
    }

    func admit() {
        if let admission {
            guard admission.admit(address) else { return abort(.connectionLimit) }
            isAdmitted = true
        }
        phase = .handshaking
        if !needsTLS { establish() }
    }

    func establish() {
        phase = .open
        phaseDeadlineMs = Int.max
        updateDeadline()
        handler?.opened(self)
    }

    // MARK: The handler's side

    /// Whether the handler may still send.
    public var isOpen: Bool { phase.isOpen }

    /// Gives the connection to another handler, which receives all later calls (an upgrade to WebSocket).
    public func replaceHandler(_ next: any ConnectionHandler) {
        handler = next
    }

    /// Counts the connection for the client behind a proxy; `false` when that client may have no more.
    public func attribute(to client: IPAddress?) -> Bool {
        guard isAdmitted, client != address, let admission else { return true }
        guard admission.move(from: address, to: client, wasEstablished: isEstablished) else { return false }
        address = client
        return true
    }

    /// Counts the connection as established from now on: its client has authenticated or subscribed.
    public func markEstablished() {
        guard isAdmitted, !isEstablished else { return }
        isEstablished = true
        admission?.established(address)
    }

    /// Sets the handler's one deadline, monotonic milliseconds; `Int.max` for none.
    public func setDeadline(at deadlineMs: Int) {
        handlerDeadlineMs = deadlineMs
        updateDeadline()
    }

    /// Stops reading until ``resumeReading()``; the kernel's window then holds the peer back.
    ///
    /// The socket is watched until the peer sends something meanwhile. Mostly it does not, and then neither this nor
    /// the end of the pause costs a system call. Each HTTP request is such a pause.
    public func pauseReading() {
        isReadPaused = true
    }

    /// Reads again, first the bytes that TLS already holds.
    public func resumeReading() {
        guard isReadPaused, let token else { return }
        isReadPaused = false
        guard isOpen else { return }
        updateInterest()
        if tls?.holdsInput == true { context.reactor.markReadable(token) }
    }

    /// Closes after everything queued, and `last` after it, was written.
    ///
    /// `discarding` first drops frames whose write has not begun, so that a slow peer receives the reason without them.
    public func close(_ reason: CloseReason, last: [UInt8] = [], discarding: Bool = false) {
        guard token != nil else { return }
        switch phase {
        case .open:
            if endReason == nil { bytesUnsent = queuedBytes }
            if discarding {
                splitBursts()
                let before = outbound.queue.byteCount
                context.statistics.itemsDropped.add(outbound.queue.dropUnstarted(pinned: outbound.pinned))
                context.statistics.queuedBytes.add(outbound.queue.byteCount - before)
            }
            outbound.queue.append(last, nowMs: context.reactor.nowMs)
            context.statistics.queuedBytes.add(last.count)
            phase = .finishing
            endReason = endReason ?? reason
            phaseDeadlineMs = context.reactor.nowMs + context.limits.closeMs
            updateDeadline()
            updateInterest()
            askForFlush()
        case .connecting, .proxyHeader, .handshaking: abort(reason)
        case .finishing, .lingering, .over: break
        }
    }

    /// Ends the connection at once; queued frames are lost.
    public func abort(_ reason: CloseReason) {
        guard let token else { return }
        if case .over = phase { return }
        if endReason == nil { bytesUnsent = queuedBytes }
        endReason = endReason ?? reason
        phase = .over
        context.reactor.remove(token)
    }

    // MARK: EventSource

    /// Drives the connection's present phase.
    public func ready(_ readiness: Readiness) {
        switch phase {
        case .connecting:
            finishConnecting()
        case .proxyHeader(let header):
            readProxyHeader(header)
        case .handshaking:
            takeHandshakeStep()
        case .open:
            if readiness.contains(.write) { writeAgain() }
            if !isReadPaused {
                readAvailable()
            } else if readiness.contains(.failed) {
                abort(.peerGone)
            } else {
                updateInterest()
            }
            // A TLS write may have waited for input.
            if outbound.isBlocked && needsTLS { writeAgain() }
        case .finishing:
            if readiness.contains(.failed) { abort(.peerGone) } else { writeAgain() }
        case .lingering:
            discardInput()
        case .over:
            break
        }
    }

    /// Ends a phase that took too long, or notifies the handler that its deadline has passed.
    public func deadlineReached() {
        let nowMs = context.reactor.nowMs
        if nowMs >= phaseDeadlineMs {
            if case .lingering = phase { return abort(.timeout) }
            if case .finishing = phase { Sockets.resetOnClose(raw) }
            return abort(.timeout)
        }
        if isOpen, let ageMs = ageDeadlineMs, nowMs >= ageMs {
            guard mayLive(nowMs) else { return close(.slowConsumer, discarding: true) }
        }
        outbound.queue.trim()
        if nowMs >= handlerDeadlineMs {
            handlerDeadlineMs = Int.max
            handler?.deadlineReached()
        }
        updateDeadline()
    }

    /// Writes queued frames, once per tick.
    public func flush() {
        switch phase {
        case .open:
            // Written bytes had no deadline but their age, and at that time nothing is left to do.
            if !write() { updateDeadline() }
        case .finishing:
            let isAll = write()
            if case .finishing = phase { tellHandler() }
            if case .finishing = phase, isAll { halfClose() }
        default:
            break
        }
    }

    /// Frees the socket and everything queued.
    public func released() {
        tellHandler()
        context.statistics.queuedBytes.add(-outbound.queue.byteCount)
        context.statistics.open.add(-1)
        splitBursts()
        context.statistics.itemsDropped.add(outbound.queue.removeAll(isSlow: endReason == .slowConsumer))
        tls = nil
        token = nil
        descriptor = nil
        if isWaitingForTurn { context.stopsWaiting() }
        isWaitingForTurn = false
        if isAdmitted { admission?.release(address, wasEstablished: isEstablished) }
        admission = nil
    }

    func tellHandler() {
        guard let handler else { return }
        self.handler = nil
        handlerDeadlineMs = Int.max
        let reason = endReason ?? .peerGone
        context.statistics.countClose(reason)
        handler.ended(reason)
    }

    // MARK: Interest and deadlines

    func updateInterestToRead() {
        if let token { context.reactor.setInterest(token, .read) }
    }

    func updateInterest(alsoWrite: Bool = false) {
        guard let token else { return }
        var interest: Readiness = outbound.isBlocked || alsoWrite ? .write : []
        if isOpen && !isReadPaused { interest.insert(.read) }
        context.reactor.setInterest(token, interest)
    }

    func updateDeadline() {
        guard let token else { return }
        let deadline = min(phaseDeadlineMs, handlerDeadlineMs, isOpen ? ageDeadlineMs ?? Int.max : Int.max)
        context.reactor.setDeadline(token, at: deadline)
    }
}

@available(*, unavailable)
extension Connection: Sendable {}
