import Core
import Dialects
import Reactors
import Rights
import Transport
import WebSocketCodec

/// A client over WebSocket: frames in, frames out, pings, and the close handshake.
///
/// Thread: the shard's.
final class WebSocketPeer: ConnectionHandler, Outlet {
    private let shard: Shard
    private let connection: Connection
    private var decoder: WebSocketDecoder
    /// `nil` on `/echo`.
    private let dialect: (any Dialect)?
    /// The dialect's number, by which deliveries keep their encoding.
    private let variant: Int
    /// The client's session; `nil` for an echo, and after the end.
    private(set) var session: Session?
    private let isEcho: Bool
    private var controls: TokenBucket
    private var pingMs: Int
    private var pongMs = Int.max
    private var lastInboundMs: Int
    /// When a client that sent too fast is read again; `Int.max` while it is read.
    private var readAgainMs = Int.max
    private var closing: CloseReason?

    /// A client of a dialect.
    init(shard: Shard, connection: Connection, dialect: any Dialect, variant: Int, caller: Caller) {
        self.shard = shard
        self.connection = connection
        isEcho = false
        self.dialect = dialect
        self.variant = variant
        decoder = WebSocketDecoder(
            role: .server,
            limits: WebSocketLimits(
                messageBytesMax: shard.limits.inboundMessageBytesMax, fragmentsMax: shard.limits.fragmentsMax))
        controls = WebSocketPeer.controlBucket(shard)
        lastInboundMs = shard.nowMs
        pingMs = shard.nowMs + shard.limits.pingMs
        session = Session(host: shard, outlet: self, caller: caller)
        shard.joined(self)
        updateDeadline()
    }

    /// A conformance suite on `/echo`: every message comes back; messages may be large.
    init(echo shard: Shard, connection: Connection) {
        self.shard = shard
        self.connection = connection
        isEcho = true
        dialect = nil
        variant = 0
        let limits = WebSocketLimits(messageBytesMax: 32 << 20, fragmentsMax: 1 << 20)
        decoder = WebSocketDecoder(role: .server, limits: limits)
        controls = WebSocketPeer.controlBucket(shard)
        lastInboundMs = shard.nowMs
        pingMs = Int.max
        connection.markEstablished()
        shard.joined(self)
        updateDeadline()
    }

    private static func controlBucket(_ shard: Shard) -> TokenBucket {
        let perSecond = shard.limits.controlFramesPerSecond
        return TokenBucket(RateLimit(perSecond: perSecond, burst: perSecond * 2), nowMs: shard.nowMs)
    }

    // MARK: ConnectionHandler

    func opened(_ connection: Connection) {}

    func received(_ bytes: Span<UInt8>) {
        lastInboundMs = shard.nowMs
        pongMs = Int.max
        var position = 0
        while closing == nil, let event = decoder.next(bytes, at: &position) { handle(event) }
        slowDown()
    }

    /// Leaves a client that sends too fast unread for a while: TCP holds it back and nothing is lost.
    private func slowDown() {
        guard closing == nil, readAgainMs == Int.max, let delayMs = session?.readDelayMs, delayMs > 0 else { return }
        shard.statistics.rateDelays.add(1)
        readAgainMs = shard.nowMs + delayMs
        connection.pauseReading()
        updateDeadline()
    }

    private func handle(_ event: WebSocketEvent) {
        switch event {
        case .message(let kind, let payload):
            shard.statistics.messagesIn.add(1)
            if let dialect {
                session?.received(dialect.decode(payload, as: kind == .text ? .text : .binary))
            } else {
                transmit(WebSocketEncoder.frame(kind == .text ? .text : .binary, payload: payload))
            }
        case .ping(let payload):
            guard takeControl() else { return }
            transmit(WebSocketEncoder.frame(.pong, payload: payload))
        case .pong:
            _ = takeControl()
        case .close(let code, _):
            closing = .normal
            connection.close(.normal, last: WebSocketEncoder.close(code: code, reason: ""))
        case .failed(let failure):
            close(failure.closeReason, detail: failure.explanation)
        }
    }

    private func takeControl() -> Bool {
        if isEcho || controls.take(nowMs: shard.nowMs) { return true }
        close(.policyViolation, detail: "too many control frames")
        return false
    }

    func deadlineReached() {
        let nowMs = shard.nowMs
        if nowMs >= readAgainMs {
            readAgainMs = Int.max
            connection.resumeReading()
        }
        if nowMs >= pongMs {
            // The pong may have come while this process was stopped; it is read first, and given time.
            guard shard.stalledMs > nowMs - shard.limits.pongMs else { return close(.timeout) }
            pongMs = nowMs + shard.limits.pongMs
        }
        if nowMs >= pingMs {
            // A client that has just spoken needs no ping.
            if nowMs - lastInboundMs >= shard.limits.pingMs {
                transmit(WebSocketEncoder.frame(.ping, payload: []))
                pongMs = nowMs + shard.limits.pongMs
                pingMs = nowMs + shard.limits.pingMs
            } else {
                pingMs = lastInboundMs + shard.limits.pingMs
            }
        }
        session?.deadlineReached()
        updateDeadline()
    }

    func readTooSlowly(_ bound: OutboundBound) -> Bool {
        guard closing == nil else { return false }
        if bound != .stuck, thin(bound) { return true }
        close(.slowConsumer)
        return false
    }

    private func thin(_ bound: OutboundBound) -> Bool {
        guard let dialect else { return false }
        var thinner = QueueThinner(
            connection, access: shard.node.access, limits: shard.limits, dialect: dialect, nowMs: shard.nowMs)
        let isEnough = thinner.thin(bound)
        shard.statistics.gaps.add(thinner.gaps)
        return isEnough
    }

    func ended(_ reason: CloseReason) {
        if session == nil && !isEcho { return }
        session?.ended()
        shard.left(self)
        session = nil
    }

    // MARK: Outlet

    var address: IPAddress? { connection.address }

    func send(_ message: ServerMessage, ref: Reference?) {
        guard let dialect else { return }
        transmit(WebSocketEncoder.frame(.text, payload: dialect.encode(message, ref: ref)))
    }

    func send(_ delivery: Delivery, isOwed: Bool) -> Bool {
        guard let dialect else { return true }
        return connection.send(delivery.frame(variant, dialect), item: delivery, isOwed: isOwed) || !connection.isOpen
    }

    func send(_ batch: DeliveryBatch) -> Bool {
        guard let dialect else { return true }
        return connection.send(batch.burst(variant, dialect))
    }

    func operation(of ref: Reference) -> OperationName? {
        dialect?.operation(of: ref)
    }

    func close(_ reason: CloseReason) {
        close(reason, detail: "")
    }

    func established() {
        connection.markEstablished()
    }

    func deadlineChanged() {
        updateDeadline()
    }

    // MARK: Ending

    private func transmit(_ frame: [UInt8]) {
        if !connection.send(frame) && connection.isOpen { close(.slowConsumer) }
    }

    /// Says why and closes; a slow consumer is spared what it could not read.
    func close(_ reason: CloseReason, detail: String) {
        guard closing == nil else { return }
        closing = reason
        let text = detail.isEmpty ? reason.rawValue : detail
        let frame = reason.webSocketCode.map { WebSocketEncoder.close(code: $0, reason: text) } ?? []
        connection.close(reason, last: frame, discarding: reason == .slowConsumer)
    }

    /// Tells the client that the node goes away, and when to come back.
    func drain(reconnectAfterMs: Int) {
        session?.send(.draining(reconnectAfterMs: reconnectAfterMs))
    }

    private func updateDeadline() {
        connection.setDeadline(at: min(pingMs, pongMs, readAgainMs, session?.deadlineMs ?? Int.max))
    }
}
