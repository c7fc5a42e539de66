public import Core
public import Reactors

/// The figures of ``Limits`` that this target needs.
public struct ConnectionLimits: Sendable {
    /// Milliseconds from accept to the end of the TLS handshake, PROXY header included.
    public var handshakeMs: Int
    /// Handshakes advanced per tick.
    public var handshakesPerTick: Int
    /// Milliseconds that handshakes may take of a tick.
    public var handshakeMsPerTick: Int
    /// Handshakes that may wait before accepting pauses.
    public var handshakesPendingMax: Int
    /// Bytes that may wait for one connection.
    public var outboundBytesMax: Int
    /// Age the oldest waiting byte may reach, milliseconds.
    public var outboundAgeMs: Int
    /// Bytes that may wait for all connections of one reactor together.
    public var outboundTotalBytesMax: Int
    /// Milliseconds a closing connection may take.
    public var closeMs: Int

    /// Takes the figures out of the node's limits; `reactors` share the node's total.
    public init(_ limits: Limits, reactors: Int) {
        outboundTotalBytesMax = limits.outboundTotalBytesMax / max(reactors, 1)
        handshakeMs = limits.tlsHandshakeMs
        handshakesPerTick = limits.handshakesPerTick
        handshakeMsPerTick = limits.handshakeMsPerTick
        handshakesPendingMax = max(limits.handshakesPendingMax / max(reactors, 1), 1)
        outboundBytesMax = limits.outboundBytesMax
        outboundAgeMs = limits.outboundAgeMs
        closeMs = limits.closeMs
    }
}

/// Figures of one reactor's connections.
///
/// Thread: written by the reactor's, readable by any.
public final class TransportStatistics: Sendable {
    /// Connections accepted.
    public let accepted = Counter()
    /// Connections open now.
    public let open = Counter()
    /// Times accepting paused because too many handshakes waited.
    public let acceptPauses = Counter()
    /// Handshakes that wait now.
    public let handshakesWaiting = Counter()
    /// Connections closed as soon as they were accepted, because hardly any descriptors were left.
    public let descriptorRefusals = Counter()
    /// Failed accepts (EMFILE and its kin).
    public let acceptErrors = Counter()
    /// Handshakes that succeeded, including those that resumed a session.
    public let handshakes = Counter()
    /// Handshakes of ``handshakes`` that were abbreviated.
    public let handshakesResumed = Counter()
    /// Bytes read, after decryption.
    public let bytesIn = Counter()
    /// Bytes written, before encryption.
    public let bytesOut = Counter()
    /// Writes to the kernel or TLS.
    public let writes = Counter()
    /// Bytes waiting for all connections.
    public let queuedBytes = Counter()
    /// Items written to the last byte (``OutboundItem``).
    public let itemsWritten = Counter()
    /// Items removed from a queue because newer ones replace them.
    public let itemsConflated = Counter()
    /// Items whose connection ended before they were written, or refused them.
    public let itemsDropped = Counter()
    private let closed = CloseReason.allCases.map { _ in Counter() }

    /// Zeroes.
    public init() {}

    func countClose(_ reason: CloseReason) {
        guard let index = CloseReason.allCases.firstIndex(of: reason) else { return }
        closed[index].add(1)
    }

    /// Connections ended, by reason, in the order of `CloseReason.allCases`.
    public var closedByReason: [(CloseReason, Int)] { zip(CloseReason.allCases, closed).map { ($0, $1.value) } }
}

/// The shared parts of one reactor's connections: buffers, budgets and figures.
///
/// One receive and one gather buffer serve all connections of the thread, since each is used only within one call.
@safe public final class ConnectionContext {
    /// Whether a handshake has failed, so that connections are checked for an unexpected PROXY header.
    var suspectsProxyHeaders = false
    /// The loop that drives the connections.
    public let reactor: Reactor
    /// Figures.
    public let statistics = TransportStatistics()
    let limits: ConnectionLimits
    let receiveBuffer: UnsafeMutableRawBufferPointer
    let gatherBuffer: UnsafeMutableRawBufferPointer
    private var handshakes: HandshakeQueue
    private var heldListeners: [Listener] = []
    /// The bytes that waited for all connections after the last relief, unless that was within the bound.
    ///
    /// The next relief is tried only after much more waits.
    private var unrelievedBytes = 0

    /// TLS records carry at most 16 KiB (RFC 8446 section 5.1); gathering exactly that makes one record a write.
    static let recordBytes = 16_384
    private static let bufferBytes = 65_536

    /// Makes the shared parts on the reactor's thread.
    public init(reactor: Reactor, limits: ConnectionLimits) {
        self.reactor = reactor
        self.limits = limits
        handshakes = HandshakeQueue(
            stepsPerTick: limits.handshakesPerTick, usPerTick: limits.handshakeMsPerTick * 1_000,
            waitingMax: limits.handshakesPendingMax)
        // All writes happen in the flush phase, where nothing else calls OpenSSL.
        reactor.onFlush = { TLSSession.forgetErrors() }
        unsafe receiveBuffer = .allocate(byteCount: ConnectionContext.bufferBytes, alignment: 64)
        unsafe gatherBuffer = .allocate(byteCount: ConnectionContext.bufferBytes, alignment: 64)
    }

    deinit {
        unsafe receiveBuffer.deallocate()
        unsafe gatherBuffer.deallocate()
    }

    /// Makes room for so many more bytes when all connections together exceed their bound.
    ///
    /// The largest queues are thinned, or closed, until a quarter of the bound is free. Requested backlogs count last,
    /// so that slow readers do not harm a healthy peer with a small queue, or one that has just reconnected. Rare:
    /// O(connections), and not again before a quarter of the bound has been filled.
    func makeRoom(for bytes: Int) {
        let boundBytes = limits.outboundTotalBytesMax
        guard statistics.queuedBytes.value + bytes > max(boundBytes, unrelievedBytes + boundBytes / 4) else { return }
        var waiting: [(connection: Connection, unowed: Int, bytes: Int)] = []
        reactor.forEachSource { source in
            guard let connection = source as? Connection, connection.context === self, connection.isClient,
                connection.isOpen
            else { return }
            waiting.append((connection, connection.unowedBytes, connection.queuedBytes))
        }
        waiting.sort { ($0.unowed, $0.bytes) > ($1.unowed, $1.bytes) }
        for victim in waiting {
            guard statistics.queuedBytes.value + bytes > boundBytes - boundBytes / 4, victim.bytes > 0 else { break }
            victim.connection.relieve()
        }
        let left = statistics.queuedBytes.value
        unrelievedBytes = left + bytes > boundBytes ? left : 0
    }

    /// Whether this tick's budget allows one more handshake step; otherwise the peer has to wait.
    ///
    /// `isWaiting` is the peer's own mark that it waits.
    func mayHandshake(isWaiting: inout Bool) -> Bool {
        guard handshakes.take(tick: reactor.tick) else {
            if !isWaiting { handshakes.waits() }
            isWaiting = true
            statistics.handshakesWaiting.set(handshakes.waiting)
            return false
        }
        if isWaiting { stopsWaiting() }
        isWaiting = false
        return true
    }

    /// Charges the tick's budget for a handshake step.
    func spentOnHandshake(us: Int) {
        handshakes.spent(us: us)
    }

    /// A waiting peer has made its step or has disconnected.
    func stopsWaiting() {
        handshakes.stopsWaiting()
        statistics.handshakesWaiting.set(handshakes.waiting)
        guard handshakes.isEased, !heldListeners.isEmpty else { return }
        let held = heldListeners
        heldListeners.removeAll(keepingCapacity: true)
        for listener in held { listener.goOn() }
    }

    /// Whether so many handshakes wait that no new peer is to be accepted.
    var isCrowded: Bool { handshakes.isFull }

    /// Notifies the listener when fewer handshakes wait.
    func hold(_ listener: Listener) {
        statistics.acceptPauses.add(1)
        heldListeners.append(listener)
    }
}

@available(*, unavailable)
extension ConnectionContext: Sendable {}
