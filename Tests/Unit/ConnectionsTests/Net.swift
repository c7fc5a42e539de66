import CLinux
import Core
import Glibc
import Reactors
import Testing

@testable import Connections

/// One end of a connection under test: it keeps what it hears and does what the test asks.
final class Peer: ConnectionHandler {
    var connection: Connection?
    var received: [UInt8] = []
    var reason: CloseReason?
    var openings = 0
    var deadlines = 0
    var onOpened: (Connection) -> Void = { _ in }
    var onReceived: (Connection, [UInt8]) -> Void = { _, _ in }
    var onDeadline: (Connection) -> Void = { _ in }
    /// Says whether the queue was thinned.
    var onTooSlow: (Connection, OutboundBound) -> Bool = { _, _ in false }

    func opened(_ connection: Connection) {
        self.connection = connection
        openings += 1
        onOpened(connection)
    }

    func received(_ bytes: Span<UInt8>) {
        var chunk: [UInt8] = []
        for index in 0..<bytes.count { chunk.append(bytes[index]) }
        received += chunk
        if let connection { onReceived(connection, chunk) }
    }

    func deadlineReached() {
        deadlines += 1
        if let connection { onDeadline(connection) }
    }

    func readTooSlowly(_ bound: OutboundBound) -> Bool {
        connection.map { onTooSlow($0, bound) } ?? false
    }

    func ended(_ reason: CloseReason) {
        if self.reason != nil { Issue.record("ended twice") }
        self.reason = reason
    }
}

/// Counts places; admits as many as the test allows.
final class Gate: Admission {
    struct Figures {
        var placesLeft = Int.max
        var admitted: [IPAddress?] = []
        var established = 0
        var released: [IPAddress?] = []
        var releasedEstablished = 0
        var moves: [[IPAddress?]] = []
        var mayMove = true
    }

    private let figures = Guarded(Figures())

    var now: Figures { figures.withLock { $0 } }

    func limit(to places: Int) {
        figures.withLock { $0.placesLeft = places }
    }

    func admit(_ address: IPAddress?) -> Bool {
        figures.withLock { figures in
            guard figures.placesLeft > 0 else { return false }
            figures.placesLeft -= 1
            figures.admitted.append(address)
            return true
        }
    }

    func forbidMoves() {
        figures.withLock { $0.mayMove = false }
    }

    func move(from proxy: IPAddress?, to client: IPAddress?, wasEstablished: Bool) -> Bool {
        figures.withLock { figures in
            guard figures.mayMove else { return false }
            figures.moves.append([proxy, client])
            return true
        }
    }

    func established(_ address: IPAddress?) {
        figures.withLock { $0.established += 1 }
    }

    func release(_ address: IPAddress?, wasEstablished: Bool) {
        figures.withLock { figures in
            figures.placesLeft += figures.placesLeft == Int.max ? 0 : 1
            figures.released.append(address)
            figures.releasedEstablished += wasEstablished ? 1 : 0
        }
    }
}

/// Servers and clients in one reactor, over loopback.
///
/// The thread of the test drives both.
final class Net {
    let wake: Wake
    let reactor: Reactor
    let server: ConnectionContext
    let client: ConnectionContext
    let gate = Gate()
    /// The server's ends, in the order of their acceptance.
    private(set) var peers: [Peer] = []
    private(set) var clients: [Peer] = []
    private var listeners: [Listener] = []
    private var isEnding = false

    init(_ change: (inout ConnectionLimits) -> Void = { _ in }) throws {
        // OpenSSL writes without MSG_NOSIGNAL; the program ignores the signal too.
        _ = signal(SIGPIPE, SIG_IGN)
        wake = try Wake()
        reactor = try Reactor(wake: wake)
        var limits = ConnectionLimits(Limits(), reactors: 1)
        change(&limits)
        server = ConnectionContext(reactor: reactor, limits: limits)
        // Clients that take turns among themselves could not crowd a server.
        limits.handshakesPerTick = Limits().handshakesPerTick
        client = ConnectionContext(reactor: reactor, limits: limits)
    }

    /// Listens; tells the port.
    ///
    /// `prepare` gets each accepted end before anything happens to it.
    func listen(
        tls: TLSContext? = nil, expectsProxyHeader: Bool = false, acceptPauseMs: Int = 100, acceptsPerTick: Int = 64,
        _ prepare: @escaping (Peer) -> Void = { _ in }
    ) throws -> UInt16 {
        let descriptor = try Sockets.listen(.tcp(IPAddress(127, 0, 0, 1), port: 0), backlog: 512)
        let port = Sockets.port(of: descriptor.raw)
        let style = Listener.Style(
            tls: tls, expectsProxyHeader: { _ in expectsProxyHeader }, acceptsPerTick: acceptsPerTick,
            acceptPauseMs: acceptPauseMs,
            descriptorReserve: 0)
        let listener = try Listener(context: server, listening: descriptor, style: style, admission: gate) {
            [unowned self] in
            let peer = Peer()
            peers.append(peer)
            prepare(peer)
            return peer
        }
        listeners.append(listener)
        return port
    }

    /// Connects a client of this reactor.
    @discardableResult
    func connect(
        _ port: UInt16, tls: TLSContext? = nil, name: String = "localhost", _ prepare: (Peer) -> Void = { _ in }
    ) throws -> Peer {
        let peer = Peer()
        prepare(peer)
        clients.append(peer)
        peer.connection = try Connection.connect(
            client, to: .tcp(IPAddress(127, 0, 0, 1), port: port), tls: tls, name: name,
            outboundBytesMax: 16 << 20, handler: peer)
        return peer
    }

    /// Runs until the condition holds at the end of a tick, thirty seconds at most; then ends everything.
    func run(until condition: @escaping () -> Bool, _ location: SourceLocation = #_sourceLocation) throws {
        let guardian = try ReactorTimer(reactor) { [unowned self] in
            Issue.record("the condition did not come about", sourceLocation: location)
            end()
        }
        guardian.set(atMs: Clock.monotonicMs() + 30_000)
        reactor.onTickEnd = { [unowned self] in
            if isEnding { return reactor.stop() }
            guard condition() else { return }
            guardian.invalidate()
            end()
        }
        wake.signal()
        reactor.run()
        reactor.onTickEnd = {}
    }

    private func end() {
        isEnding = true
        for listener in listeners { listener.close() }
        for peer in peers + clients { peer.connection?.abort(.goingAway) }
        wake.signal()
    }
}

/// A client on a thread of its own that uses plain blocking calls, so that it can misbehave.
final class BlockingClient: Sendable {
    /// What the body returned; `nil` while it runs.
    let outcome = Guarded<[UInt8]?>(nil)

    var isDone: Bool { outcome.withLock { $0 != nil } }
    var bytes: [UInt8] { outcome.withLock { $0 ?? [] } }

    /// Connects and runs the body with the socket; the reactor is woken when it is done.
    init(_ port: UInt16, wake: Wake, _ body: @escaping @Sendable (Int32) -> [UInt8]) throws {
        let this = self
        let thread = try Thread.start("client") {
            let bytes = BlockingClient.connected(port).map { descriptor in
                let bytes = body(descriptor)
                _ = close(descriptor)
                return bytes
            }
            this.outcome.withLock { $0 = bytes ?? Array("cannot connect".utf8) }
            wake.signal()
        }
        thread.detach()
    }

    /// A connected blocking socket whose reads give up after ten seconds.
    static func connected(_ port: UInt16) -> Int32? {
        guard let descriptor = try? Sockets.connect(.tcp(IPAddress(127, 0, 0, 1), port: port)) else {
            return nil
        }
        let raw = descriptor.release()
        var watched = pollfd(fd: raw, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&watched, 1, 10_000)
        _ = fcntl(raw, F_SETFL, 0)
        var patience = timeval(tv_sec: 10, tv_usec: 0)
        _ = unsafe setsockopt(raw, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        return raw
    }

    static func send(_ descriptor: Int32, _ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes[sent...].withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }

    /// Reads up to the end of the stream; a broken stream ends with "reset".
    static func receiveAll(_ descriptor: Int32) -> [UInt8] {
        var all: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe recv(descriptor, &chunk, chunk.count, 0)
            if count < 0 { return all + Array("reset".utf8) }
            if count == 0 { return all }
            all += chunk[..<count]
        }
    }

    /// Waits for the peer's end without taking a byte.
    static func waitForHangUp(_ descriptor: Int32) {
        var watched = pollfd(fd: descriptor, events: 0, revents: 0)
        _ = unsafe poll(&watched, 1, 10_000)
    }
}
