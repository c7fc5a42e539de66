public import Core
public import Reactors

/// The figures Transport needs of ``Limits``.
public struct ConnectionLimits: Sendable {
    /// Milliseconds from accept to the end of the TLS handshake, PROXY header included.
    public var handshakeMs: Int
    /// Handshakes advanced per tick.
    public var handshakesPerTick: Int
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
    /// Failed accepts (EMFILE and its kin).
    public let acceptErrors = Counter()
    /// Handshakes that ended well, and those of them that resumed a session.
    public let handshakes = Counter()
    /// Of ``handshakes``: abbreviated ones.
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
    /// Items taken out of a queue because newer ones say the same.
    public let itemsConflated = Counter()
    /// Items whose connection ended before they were written, or did not take them.
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

/// What the connections of one reactor share: buffers, budgets and figures.
///
/// One receive and one gather buffer serve all connections of the thread, since each is used only within one call.
@safe public final class ConnectionContext {
    /// The loop that drives the connections.
    public let reactor: Reactor
    /// Figures.
    public let statistics = TransportStatistics()
    let limits: ConnectionLimits
    let receiveBuffer: UnsafeMutableRawBufferPointer
    let gatherBuffer: UnsafeMutableRawBufferPointer
    private var handshakeTick = 0
    private var handshakesLeft = 0

    /// TLS records carry at most 16 KiB (RFC 8446 section 5.1); gathering exactly that makes one record a write.
    static let recordBytes = 16_384
    private static let bufferBytes = 65_536

    /// Makes the shared parts on the reactor's thread.
    public init(reactor: Reactor, limits: ConnectionLimits) {
        self.reactor = reactor
        self.limits = limits
        unsafe receiveBuffer = .allocate(byteCount: ConnectionContext.bufferBytes, alignment: 64)
        unsafe gatherBuffer = .allocate(byteCount: ConnectionContext.bufferBytes, alignment: 64)
    }

    deinit {
        unsafe receiveBuffer.deallocate()
        unsafe gatherBuffer.deallocate()
    }

    /// Takes one handshake step from this tick's budget; false when it is used up.
    func takeHandshake() -> Bool {
        if handshakeTick != reactor.tick {
            handshakeTick = reactor.tick
            handshakesLeft = limits.handshakesPerTick
        }
        guard handshakesLeft > 0 else { return false }
        handshakesLeft -= 1
        return true
    }
}

@available(*, unavailable)
extension ConnectionContext: Sendable {}
