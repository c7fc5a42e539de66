public import Core
public import Reactors

/// Decides whether a peer may open another connection; shared by all shards of a node.
public protocol Admission: AnyObject, Sendable {
    /// Takes a place for the address; `false` when there is none left.
    func admit(_ address: IPAddress?) -> Bool
    /// Moves a place from the address of a proxy to the client's own; `false` when that address has none left.
    func move(from proxy: IPAddress?, to client: IPAddress?, wasEstablished: Bool) -> Bool
    /// The connection has authenticated or subscribed.
    func established(_ address: IPAddress?)
    /// Returns the place, of a connection that was established or was not.
    func release(_ address: IPAddress?, wasEstablished: Bool)
}

/// One shard's listening socket, which accepts in bounded batches.
///
/// It refuses new peers when descriptors run out, and pauses when too many handshakes wait. While it pauses, new peers
/// wait in the kernel's backlog. The last descriptors are reserved for the process itself, which needs them to
/// reconnect to Redis and to read its files again. A peer that would take one of them is accepted and closed at once,
/// so that it tries elsewhere instead of waiting in the backlog.
///
/// Thread: the reactor's.
public final class Listener: EventSource {
    /// The settings of this listener's new connections.
    public struct Style: Sendable {
        /// The TLS settings; `nil` for plain TCP behind a balancer that terminates TLS.
        public var tls: TLSContext?
        /// Whether connections from an address must begin with a PROXY header; all others must not.
        public var expectsProxyHeader: @Sendable (IPAddress?) -> Bool
        /// Connections accepted per tick.
        public var acceptsPerTick: Int
        /// Pause when descriptors run out, milliseconds.
        public var acceptPauseMs: Int
        /// Descriptors of the process that connections of this listener may not take.
        public var descriptorReserve: Int

        /// Makes a style.
        public init(
            tls: TLSContext?, expectsProxyHeader: @escaping @Sendable (IPAddress?) -> Bool, acceptsPerTick: Int,
            acceptPauseMs: Int, descriptorReserve: Int
        ) {
            self.tls = tls
            self.expectsProxyHeader = expectsProxyHeader
            self.acceptsPerTick = acceptsPerTick
            self.acceptPauseMs = acceptPauseMs
            self.descriptorReserve = descriptorReserve
        }
    }

    private let context: ConnectionContext
    private var descriptor: FileDescriptor?
    private let raw: Int32
    private var style: Style
    private let admission: any Admission
    private let makeHandler: () -> any ConnectionHandler
    private var token: EventToken?
    /// Whether it waits for handshakes.
    private var isHeld = false

    /// Takes over a listening socket; `makeHandler` makes the owner of each connection.
    public init(
        context: ConnectionContext, listening descriptor: consuming FileDescriptor, style: Style,
        admission: any Admission, makeHandler: @escaping () -> any ConnectionHandler
    ) throws(Errno) {
        self.context = context
        raw = descriptor.raw
        self.descriptor = consume descriptor
        self.style = style
        self.admission = admission
        self.makeHandler = makeHandler
        token = try context.reactor.add(self, descriptor: raw, interest: .read)
    }

    /// Changes the certificate for connections accepted from now on.
    public func replaceTLS(_ tls: TLSContext) {
        style.tls = tls
    }

    /// Accepts all connections that exist, and no new ones; a later ``close()`` then resets no peer.
    public func dropNewConnections() {
        Sockets.dropNewConnections(raw)
    }

    /// Stops accepting and closes the socket at the end of this tick.
    public func close() {
        if let token { context.reactor.remove(token) }
    }

    /// Accepts a batch.
    public func ready(_ readiness: Readiness) {
        guard !isHeld else { return }
        let ceiling = DescriptorReserve.ceiling(reserve: style.descriptorReserve)
        var refused = 0
        for _ in 0..<style.acceptsPerTick {
            if style.tls != nil && context.isCrowded { return hold() }
            do {
                let accepted = try Sockets.accept(raw)
                guard accepted.descriptor.raw < ceiling else {
                    // Closed here: the descriptor ends with this iteration.
                    context.statistics.descriptorRefusals.add(1)
                    refused += 1
                    continue
                }
                context.statistics.accepted.add(1)
                let expectsHeader = style.expectsProxyHeader(accepted.address)
                let handler = makeHandler()
                let connection = Connection(
                    context: context, accepted: accepted, tls: style.tls, expectsProxyHeader: expectsHeader,
                    admission: admission, handler: handler)
                if connection.start() {
                    handler.accepted(connection)
                } else {
                    context.statistics.acceptErrors.add(1)
                }
            } catch {
                guard error != .wouldBlock else { return }
                guard error != .connectionAborted else { continue }
                context.statistics.acceptErrors.add(1)
                return pause()
            }
        }
        if refused > 0 { pause() }
    }

    /// Out of descriptors or memory: accepting again at once would loop, so peers wait in the backlog for a while.
    private func pause() {
        guard let token else { return }
        context.reactor.setInterest(token, [])
        context.reactor.setDeadline(token, at: context.reactor.nowMs + style.acceptPauseMs)
    }

    /// Handshakes wait already: more peers would only reach their deadline here.
    private func hold() {
        guard let token else { return }
        isHeld = true
        context.reactor.setInterest(token, [])
        context.hold(self)
    }

    /// Accepts again, since fewer handshakes wait.
    func goOn() {
        isHeld = false
        if let token { context.reactor.setInterest(token, .read) }
    }

    /// Ends a pause.
    public func deadlineReached() {
        if let token, !isHeld { context.reactor.setInterest(token, .read) }
    }

    /// Does nothing: a listener writes nothing.
    public func flush() {}

    /// Closes the socket.
    public func released() {
        token = nil
        descriptor = nil
    }
}

@available(*, unavailable)
extension Listener: Sendable {}
