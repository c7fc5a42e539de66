import Core
import Dialects
import Reactors
import Rights
import Transport

/// A client of Socket.IO that polls: requests come and go, the conversation stays (design section 15).
///
/// What is said waits until the client fetches it. One fetch may be held, and one send that is answered late. A client that
/// fetches while its fetch is held, or sends while its send is, has lost its way: its session ends. Thread: the shard's.
final class PollingLine: Line {
    /// How a request is answered: once.
    typealias Answer = (PollAnswer) -> Void

    private enum Phase: Equatable {
        case open
        /// The end is still to be told, until that time.
        case telling(untilMs: Int)
        case over
    }

    private let shard: Shard
    let sid: [UInt8]
    let address: IPAddress?
    private(set) var peer: Peer?
    private var queue = FetchQueue()
    private var phase = Phase.open
    private var endedBy: CloseReason?
    /// Whether the client tries a WebSocket: its fetches are released, since it moves between two of them.
    private var isProbed = false
    private var isTaking = false
    /// When the client last fetched something.
    private var fetchedMs: Int
    private var isEstablished = false
    private var heldFetch: (answer: Answer, hop: HopDesk.Hop?)?
    private var heldSend: (answer: Answer, untilMs: Int)?
    /// Packets that no session has paid for.
    private var controls: TokenBucket
    /// Whether packets went to another node that has not said yet that the client has them; until then nothing follows.
    var awaitsReceipt = false

    /// Packets of one request; beyond, the session ends.
    private static let packetsPerSendMax = 128

    /// A client at an address; the conversation begins with ``begin(_:)``.
    init(shard: Shard, sid: [UInt8], address: IPAddress?, peer: Peer) {
        self.shard = shard
        self.sid = sid
        self.address = address
        self.peer = peer
        fetchedMs = shard.nowMs
        let perSecond = shard.limits.controlFramesPerSecond
        controls = TokenBucket(RateLimit(perSecond: perSecond, burst: perSecond * 2), nowMs: shard.nowMs)
    }

    /// The client may be spoken to; what is said at once is the answer.
    func begin(_ answer: @escaping Answer) {
        shard.joined(self)
        heldFetch = (answer, nil)
        peer?.begin(on: self)
    }

    // MARK: Requests

    /// The client fetches what waits for it; `hop` when it asks by way of another node.
    func fetch(for hop: HopDesk.Hop? = nil, _ answer: @escaping Answer) {
        if let held = heldFetch {
            guard let hop = held.hop else {
                answer(.fault(.request))
                return close(.policyViolation)
            }
            // That node may have died, and a balancer asks again in the client's name. A release holds nothing.
            release(hop)
        }
        switch phase {
        case .over: answer(.fault(.session))
        case .telling: tellEnd(answer)
        case .open:
            heldFetch = (answer, hop)
            flush()
        }
    }

    /// Whether this fetch of another node waits here.
    func holds(_ hop: HopDesk.Hop) -> Bool { heldFetch?.hop == hop }

    /// Answers a fetch of another node with nothing.
    func release(_ hop: HopDesk.Hop) {
        guard let held = heldFetch, held.hop == hop else { return }
        heldFetch = nil
        held.answer(.packets([EnginePacket.Kind.noop.rawValue]))
    }

    /// Another node has handed the packets to the client.
    func receiptCame() {
        awaitsReceipt = false
        flush()
    }

    /// The client sends packets.
    func send(_ body: [UInt8], _ answer: @escaping Answer) {
        guard phase == .open else { return answer(.fault(.session)) }
        guard heldSend == nil,
            let messages = EnginePayload.messages(of: body, packetsMax: PollingLine.packetsPerSendMax)
        else {
            answer(.fault(.request))
            return close(.badRequest)
        }
        isTaking = true
        for message in messages where phase == .open { take(message) }
        isTaking = false
        flush()
        // A client that says goodbye did nothing wrong.
        guard phase == .open || hasLeft else {
            return answer(endedBy == .messageTooBig ? .tooLarge : .fault(.request))
        }
        guard let delayMs = peer?.readDelayMs, phase == .open, delayMs > 0 else { return answer(.taken) }
        // A client that sends too fast is answered late: it sends nothing before.
        shard.statistics.rateDelays.add(1)
        heldSend = (answer, shard.nowMs + delayMs)
    }

    private func take(_ message: WireUnit) {
        shard.statistics.messagesIn.add(1)
        guard message.bytes.count <= shard.limits.inboundMessageBytesMax else { return close(.messageTooBig) }
        if peer?.received(message.bytes, as: message.kind) == false, !controls.take(nowMs: shard.nowMs) {
            close(.policyViolation)
        }
    }

    // MARK: Time

    /// Does what waited for its time; false when nothing will come any more.
    func sweep() -> Bool {
        let nowMs = shard.nowMs
        if let heldSend, nowMs >= heldSend.untilMs {
            self.heldSend = nil
            heldSend.answer(.taken)
        }
        if isProbed { release() }
        switch phase {
        case .open:
            // A client that fetches is not slow, however much it asked for at once.
            if let oldestMs = queue.oldestMs, nowMs - max(oldestMs, fetchedMs) >= shard.limits.outboundAgeMs {
                close(.slowConsumer)
            } else if let peer, nowMs >= peer.deadlineMs {
                peer.deadlineReached()
            }
        case .telling(let untilMs):
            endPeer()
            if nowMs >= untilMs { phase = .over }
        case .over:
            endPeer()
            drop(isSlow: false)
            return false
        }
        return true
    }

    // MARK: Moving to a WebSocket

    /// Whether the session may move: one WebSocket at a time is tried.
    var mayMove: Bool { phase == .open && !isProbed && !awaitsReceipt }

    /// A WebSocket is tried, or is no more.
    func probed(_ isProbed: Bool) {
        self.isProbed = isProbed
        if isProbed { release() }
    }

    /// The session goes on at a WebSocket, with what waited for the client; `nil` when it has ended.
    func move() -> (peer: Peer, waiting: [(frame: [UInt8], item: OutboundItem?)], isEstablished: Bool)? {
        guard phase == .open, !awaitsReceipt, let peer else { return nil }
        release()
        if let heldSend {
            self.heldSend = nil
            heldSend.answer(.taken)
        }
        phase = .over
        self.peer = nil
        shard.left(self)
        shard.node.admission.release(address, wasEstablished: isEstablished)
        shard.statistics.transport.queuedBytes.add(-queue.byteCount)
        return (peer, queue.handOver(), isEstablished)
    }

    private func release() {
        guard phase == .open, let held = heldFetch else { return }
        heldFetch = nil
        let isEmpty = queue.isEmpty || awaitsReceipt
        held.answer(.packets(isEmpty ? [EnginePacket.Kind.noop.rawValue] : packets()))
    }

    // MARK: Answering

    /// Answers a held fetch with what waits by now.
    func flush() {
        guard phase == .open, !isTaking, !awaitsReceipt, !queue.isEmpty, let held = heldFetch else { return }
        if shard.polling.postpones(self) { return }
        heldFetch = nil
        held.answer(.packets(packets()))
    }

    // MARK: Line

    var framing: Framing { .packets }

    func send(_ unit: WireUnit) {
        guard phase == .open else { return }
        append(framing.frame([unit]), nil)
        flush()
    }

    func send(_ delivery: Delivery, _ encoding: Encoding, own: OwnWords?, isOwed: Bool) -> Bool {
        let shared = delivery.frame(encoding)
        let frame = own?.frame(shared, framing) ?? shared
        guard phase == .open, !frame.isEmpty else {
            shard.undeliverable(delivery)
            return true
        }
        guard isOwed || queue.isEmpty || hasRoom(frame.count) else {
            delivery.countRefused()
            shard.statistics.transport.itemsDropped.add(1)
            return false
        }
        append(frame, delivery, isOwed: isOwed)
        flush()
        return true
    }

    func send(_ batch: DeliveryBatch, _ encoding: Encoding) -> Bool { false }

    func close(_ reason: CloseReason) {
        guard phase == .open else { return }
        shard.logEnd(reason, of: peer, at: address, bytesUnsent: queue.byteCount)
        endedBy = reason
        if reason == .slowConsumer { drop(isSlow: true) }
        if let heldSend {
            self.heldSend = nil
            heldSend.answer(.fault(.request))
        }
        if let held = heldFetch {
            heldFetch = nil
            if reason != .peerGone {
                phase = .telling(untilMs: shard.nowMs + shard.limits.closeMs)
                return tellEnd(held.answer)
            }
            // Nobody is there: what waits is not counted as written.
            phase = .over
            held.answer(.fault(.session))
        } else if hasLeft || reason == .timeout || reason == .peerGone {
            phase = .over
        } else {
            phase = .telling(untilMs: shard.nowMs + shard.limits.closeMs)
        }
    }

    func established() {
        guard !isEstablished else { return }
        isEstablished = true
        shard.node.admission.established(address)
    }

    /// The shard looks at all of them often enough.
    func deadlineChanged() {}

    // MARK: The queue

    /// Whether the client did nothing wrong, and has a session elsewhere or again.
    private var comesBack: Bool { endedBy == .restart || endedBy == .slowConsumer || endedBy == .goingAway }

    /// Whether the client itself has ended the session.
    private var hasLeft: Bool { endedBy == .normal }

    private func append(_ frame: [UInt8], _ item: OutboundItem?, isOwed: Bool = false) {
        queue.append(
            frame, packets: EnginePayload.packetCount(frame), item: item, isOwed: isOwed, nowMs: shard.nowMs)
        shard.statistics.transport.queuedBytes.add(frame.count)
    }

    private func hasRoom(_ bytes: Int) -> Bool {
        queue.unowedBytes + bytes <= shard.limits.outboundBytesMax
            && shard.statistics.transport.queuedBytes.value + bytes
                <= shard.limits.outboundTotalBytesMax / shard.node.shards.count
    }

    /// As much of what waits as one answer may hold, and the last word behind it.
    private func packets(last: EnginePacket.Kind? = nil) -> [UInt8] {
        fetchedMs = shard.nowMs
        let before = queue.byteCount
        var (frames, items) = queue.take(
            EnginePayload.packetsMax - (last == nil ? 0 : 1), bytesMax: EnginePayload.bytesMax)
        shard.statistics.transport.queuedBytes.add(queue.byteCount - before)
        shard.statistics.transport.itemsWritten.add(items)
        if let last { frames.append([last.rawValue]) }
        return Array(frames.joined(separator: [EnginePayload.separator]))
    }

    /// Tells the end; a client that left by itself only has its fetch released.
    ///
    /// After the packet `close` some clients do not come back. Those that shall find their session unknown, once they have all
    /// that waits.
    private func tellEnd(_ answer: Answer) {
        // Behind packets that may be lost, later ones would hide the hole.
        if awaitsReceipt || (comesBack && queue.isEmpty) {
            phase = .over
            return answer(.fault(.session))
        }
        if comesBack { return answer(.packets(packets())) }
        phase = .over
        answer(.packets(packets(last: hasLeft ? .noop : .close)))
    }

    private func drop(isSlow: Bool) {
        shard.statistics.transport.queuedBytes.add(-queue.byteCount)
        shard.statistics.transport.itemsDropped.add(queue.removeAll(isSlow: isSlow))
    }

    /// Never from inside a call of the peer.
    private func endPeer() {
        guard let peer else { return }
        self.peer = nil
        peer.ended()
        shard.left(self)
        shard.node.admission.release(address, wasEstablished: isEstablished)
    }
}
