public import Connections
public import Core
public import Dialects
import Operations
import Reactors
import Rights
import Service
public import Sessions
public import Topics
public import WebSocketCodec

/// A WebSocket: frames in, frames out, pings, and the close handshake.
///
/// Thread: the shard's.
public final class WebSocketTransport: ConnectionTransport {
    /// A polling session that moves here when its client requests it.
    private final class Probing {
        let session: PollingTransport
        var probe = EngineProbe()
        /// The time at which a client that has not moved is closed, monotonic milliseconds.
        let endMs: Int

        init(_ session: PollingTransport, endMs: Int) {
            (self.session, self.endMs) = (session, endMs)
        }
    }

    /// The connection that was upgraded.
    public let connection: Connection
    /// The services that it shares with the other transports of its shard.
    public let context: TransportContext
    /// Data frames, deflated where the client agreed on it.
    public let framing: Framing
    private let isEcho: Bool
    private var decoder: WebSocketDecoder
    private var pings: PingSchedule
    /// The peer that the transport serves; `nil` for an echo, and after the end.
    public private(set) var peer: Peer?
    /// The peer's deadline when it last changed: a ping need not ask for it.
    private var peerDeadlineMs = Int.max
    private var controls: TokenBucket
    /// When reading from a client that sent too fast resumes, monotonic milliseconds; `Int.max` while it is read.
    private var readAgainMs = Int.max
    /// `nil` unless the client tries this WebSocket.
    private var probing: Probing?

    /// The transport of a client; ``begin()`` starts the dialect machine.
    public init(_ context: TransportContext, connection: Connection, peer: Peer?, deflate: DeflateAgreement?) {
        self.context = context
        self.connection = connection
        self.peer = peer
        isEcho = false
        framing = WebSocketTransport.framing(deflate)
        let limits = WebSocketLimits(
            messageBytesMax: context.limits.inboundMessageBytesMax, fragmentsMax: context.limits.fragmentsMax)
        decoder = WebSocketDecoder(role: .server, limits: limits, deflates: deflate != nil)
        controls = context.controlBucket()
        pings = PingSchedule(nowMs: context.clock.nowMs, intervalMs: context.limits.pingMs)
    }

    /// The transport of a polling client that tries a WebSocket; its session moves here when the client requests it.
    public convenience init(
        _ context: TransportContext, connection: Connection, probing session: PollingTransport,
        deflate: DeflateAgreement?
    ) {
        self.init(context, connection: connection, peer: nil, deflate: deflate)
        probing = Probing(session, endMs: context.clock.nowMs + context.limits.authenticateMs)
        session.probed(true)
    }

    /// The transport of a conformance suite on `/echo`: every message is sent back; messages may be large.
    public init(echo context: TransportContext, connection: Connection, deflate: DeflateAgreement?) {
        self.context = context
        self.connection = connection
        isEcho = true
        peer = nil
        framing = WebSocketTransport.framing(deflate)
        let limits = WebSocketLimits(messageBytesMax: WebSocketTransport.echoBytesMax, fragmentsMax: 1 << 20)
        decoder = WebSocketDecoder(role: .server, limits: limits, deflates: deflate != nil)
        controls = context.controlBucket()
        pings = .none
    }

    /// Starts the peer, once the handshake is over.
    public func begin() {
        context.open.opened(self, nowMs: context.clock.nowMs)
        if isEcho { connection.markEstablished() }
        peer?.begin(on: self)
        deadlineChanged()
    }

    private static let echoBytesMax = 32 << 20
    private static let ping = WebSocketEncoder.frame(.ping, payload: [])

    private static func framing(_ deflate: DeflateAgreement?) -> Framing {
        deflate.map { .webSocketDeflated($0.window) } ?? .webSocket
    }

    // MARK: ConnectionHandler

    /// Does nothing: the connection was open before its upgrade.
    public func opened(_ connection: Connection) {}

    /// Decodes frames, and pauses reading from a client that sends too fast.
    public func received(_ bytes: Span<UInt8>) {
        if pings.received(nowMs: context.clock.nowMs, intervalMs: context.limits.pingMs) { setDeadline() }
        var position = 0
        var hasAsked = false
        while connection.isOpen, let event = decoder.next(bytes, at: &position) {
            if handle(event) { hasAsked = true }
        }
        if hasAsked { slowDown() }
    }

    /// Pauses reading from a client that sends too fast: TCP holds it back and nothing is lost.
    private func slowDown() {
        guard connection.isOpen, readAgainMs == Int.max, let delayMs = peer?.readDelayMs, delayMs > 0 else { return }
        context.statistics.rateDelays.add(1)
        readAgainMs = context.clock.nowMs + delayMs
        connection.pauseReading()
        setDeadline()
    }

    /// Handles an event; true for a message to the peer.
    private func handle(_ event: WebSocketEvent) -> Bool {
        switch event {
        case .message(let kind, let payload):
            context.statistics.messagesIn.add(1)
            if isEcho {
                send(WireUnit(kind == .text ? .text : .binary, payload))
            } else if let probing {
                probe(probing, kind == .text ? .text : .binary, payload)
            } else {
                // A message for which no session was charged counts as a protocol frame, like a ping.
                if peer?.received(payload, as: kind == .text ? .text : .binary) == false { _ = takeControl() }
                return true
            }
        case .ping(let payload):
            peer?.passed(.received, .ping, payload)
            if takeControl() {
                transmit(WebSocketEncoder.frame(.pong, payload: payload))
                peer?.passed(.sent, .pong, payload)
            }
        case .deflated(let kind, let payload):
            let bytesMax = isEcho ? WebSocketTransport.echoBytesMax : context.limits.inboundMessageBytesMax
            return handle(context.deflation.inflated(kind, payload, bytesMax: bytesMax))
        case .pong(let payload):
            peer?.passed(.received, .pong, payload)
            _ = takeControl()
        case .close(let code, let reason):
            peer?.passed(.received, .close, (code.map { Array("\($0) ".utf8) } ?? []) + reason)
            connection.close(.normal, last: WebSocketEncoder.close(code: code, reason: ""))
        case .failed(let failure):
            close(failure.closeReason, detail: failure.explanation)
        }
        return false
    }

    /// Handles messages of a client that tries this WebSocket and then moves here.
    private func probe(_ probing: Probing, _ kind: MessageKind, _ payload: [UInt8]) {
        switch probing.probe.received(payload, as: kind) {
        case .answer(let packet): transmit(WebSocketEncoder.frame(.text, payload: packet))
        case .refuse: close(.badRequest)
        case .move:
            self.probing = nil
            guard let moved = probing.session.move() else { return close(.goingAway) }
            peer = moved.peer
            if moved.isEstablished { connection.markEstablished() }
            moved.peer.move(to: self)
            for (packet, item) in moved.waiting {
                // The packet is older than the move, so waiting here does not count as slowness.
                _ = connection.send(Framing.webSocket.frame(EnginePayload.units(packet)), item: item, isBacklog: true)
            }
            deadlineChanged()
        }
    }

    private func takeControl() -> Bool {
        if isEcho || controls.take(of: context.controlRate, nowMs: context.clock.nowMs) { return true }
        close(.policyViolation, detail: "too many control frames")
        return false
    }

    /// Resumes reading, sends a due ping, closes a silent client, and passes the deadline to the peer.
    public func deadlineReached() {
        let nowMs = context.clock.nowMs
        if nowMs >= readAgainMs {
            readAgainMs = Int.max
            connection.resumeReading()
        }
        let (intervalMs, answerMs) = (context.limits.pingMs, context.limits.pongMs)
        switch pings.step(nowMs: nowMs, intervalMs: intervalMs, answerMs: answerMs) {
        case .nothing: break
        case .ping:
            transmit(WebSocketTransport.ping)
            peer?.passed(.sent, .ping)
        case .silence:
            // The pong may have arrived while this process was stopped; it is given time to be read.
            guard context.clock.stalledMs > nowMs - answerMs else { return close(.timeout) }
            pings.waits(nowMs: nowMs, answerMs: answerMs)
        }
        if let probing, nowMs >= probing.endMs { return close(.timeout) }
        if nowMs >= peerDeadlineMs {
            peer?.deadlineReached()
            deadlineChanged()
        } else {
            setDeadline()
        }
    }

    /// Logs the end, then ends the peer and its sessions.
    public func ended(_ reason: CloseReason) {
        logEnd(reason)
        probing?.session.probed(false)
        probing = nil
        peer?.ended(reason, waiting: waitingItems)
        peer = nil
        context.open.ended(self)
    }

    // MARK: Transport

    /// Sends one data frame, deflated for this client alone where it agreed on it.
    public func send(_ unit: WireUnit) {
        let frame = framing.frame([unit])
        guard case .webSocketDeflated(let window) = framing else { return transmit(frame) }
        transmit(context.deflation.deflated(frame, window))
    }

    /// Sends a close frame with the dialect's code; slow clients lose their queue.
    public func close(_ reason: CloseReason) {
        close(reason, detail: "")
    }

    /// Sets the connection's deadline, with the peer's new one.
    public func deadlineChanged() {
        peerDeadlineMs = peer?.deadlineMs ?? Int.max
        setDeadline()
    }

    /// Sets the connection's deadline to the earliest of ping, pong, pause, probe and peer.
    private func setDeadline() {
        connection.setDeadline(at: min(pings.dueMs, readAgainMs, probing?.endMs ?? Int.max, peerDeadlineMs))
    }

    // MARK: Ending

    private func close(_ reason: CloseReason, detail: String) {
        guard connection.isOpen else { return }
        if reason == .slowConsumer { peer?.discards(waitingItems) }
        peer?.closes(reason)
        let text = detail.isEmpty ? reason.rawValue : detail
        let code = peer == nil ? reason.webSocketCode : peer?.closeCode(reason)
        let frame = code.map { WebSocketEncoder.close(code: $0, reason: text) } ?? []
        connection.close(reason, last: frame, discarding: reason == .slowConsumer)
    }
}
