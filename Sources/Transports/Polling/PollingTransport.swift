public import Connections
public import Core
public import Dialects
import Operations
import Reactors
import Rights
import Service
public import Sessions
public import Topics

/// The transport of a polling Socket.IO client: requests come and go, the session stays.
///
/// Packets wait until the client fetches them. One fetch may be held, and one send may be answered late. A second fetch
/// or send while one is held is a client's error, and its session ends. Thread: the shard's.
public final class PollingTransport: ClientTransport {
    /// Answers a request; called once.
    public typealias Answer = (PollAnswer) -> Void

    private enum Phase: Equatable {
        case open
        /// The client has yet to receive the end, until that time in monotonic milliseconds.
        case telling(untilMs: Int)
        case over
    }

    private let context: TransportContext
    /// Counts the client, which keeps no connection open, among those of its address.
    private let places: any Admission
    private let batch: FetchBatch
    let sid: [UInt8]
    /// The address of the request that opened the session; `nil` where it is not known.
    public let address: IPAddress?
    /// The peer that the transport serves; `nil` once the session has moved or ended.
    public private(set) var peer: Peer?
    private var queue = FetchQueue()
    private var phase = Phase.open
    private var endedBy: CloseReason?
    /// Whether the client tries a WebSocket: its fetches are answered at once, since it moves between two of them.
    private var isProbed = false
    private var isTaking = false
    /// When the client last fetched packets, monotonic milliseconds.
    private var fetchedMs: Int
    private var isEstablished = false
    private var heldFetch: (answer: Answer, poll: Relay.RelayedPoll?)?
    private var heldSend: (answer: Answer, untilMs: Int)?
    /// Rate of packets for which no session was charged.
    private var controls: TokenBucket
    /// Whether packets were sent to another node that has not confirmed them yet; until then no others are.
    var awaitsReceipt = false

    /// Maximum packets of one request; beyond, the session ends.
    private static let packetsPerSendMax = 128

    /// The transport of a client at an address; ``begin(_:)`` starts the dialect machine.
    init(
        _ context: TransportContext, _ places: any Admission, _ batch: FetchBatch, sid: [UInt8], address: IPAddress?,
        peer: Peer
    ) {
        self.context = context
        self.places = places
        self.batch = batch
        self.sid = sid
        self.address = address
        self.peer = peer
        fetchedMs = context.clock.nowMs
        controls = context.controlBucket()
    }

    /// Starts the peer; its first packets are the answer.
    func begin(_ answer: @escaping Answer) {
        context.open.opened(self, nowMs: context.clock.nowMs)
        heldFetch = (answer, nil)
        peer?.begin(on: self)
    }

    // MARK: Requests

    /// Fetches the packets that wait for the client; `poll` is set when another node relayed the request.
    func fetch(for poll: Relay.RelayedPoll? = nil, _ answer: @escaping Answer) {
        if let held = heldFetch {
            guard let poll = held.poll else {
                answer(.fault(.request))
                return close(.policyViolation)
            }
            // That node may have died, and a balancer repeats the client's request. A released fetch takes no packets.
            release(poll)
        }
        switch phase {
        case .over: answer(.fault(.session))
        case .telling: tellEnd(answer)
        case .open:
            heldFetch = (answer, poll)
            flush()
        }
    }

    /// Whether this fetch of another node is held here.
    func holds(_ poll: Relay.RelayedPoll) -> Bool { heldFetch?.poll == poll }

    /// Answers a fetch of another node with a `noop` packet.
    func release(_ poll: Relay.RelayedPoll) {
        guard let held = heldFetch, held.poll == poll else { return }
        heldFetch = nil
        held.answer(.packets([EnginePacket.Kind.noop.rawValue]))
    }

    /// Another node has handed the packets to the client.
    func receiptCame() {
        awaitsReceipt = false
        flush()
    }

    /// Takes packets from the client.
    func send(_ body: [UInt8], _ answer: @escaping Answer) {
        guard phase == .open else { return answer(.fault(.session)) }
        guard heldSend == nil,
            let messages = EnginePayload.messages(of: body, packetsMax: PollingTransport.packetsPerSendMax)
        else {
            answer(.fault(.request))
            return close(.badRequest)
        }
        isTaking = true
        for message in messages where phase == .open { take(message) }
        isTaking = false
        // The send is answered before the fetch. A client of python-socketio that leaves as soon as it is connected would
        // otherwise forget its last packets while it waits for this answer, and wait for a held fetch until a ping.
        defer { flush() }
        // A client that closes its session did nothing wrong.
        guard phase == .open || hasLeft else {
            return answer(endedBy == .messageTooBig ? .tooLarge : .fault(.request))
        }
        guard let delayMs = peer?.readDelayMs, phase == .open, delayMs > 0 else { return answer(.taken) }
        // A client that sends too fast is answered late: it sends nothing before the answer.
        context.statistics.rateDelays.add(1)
        heldSend = (answer, context.clock.nowMs + delayMs)
    }

    private func take(_ message: WireUnit) {
        context.statistics.messagesIn.add(1)
        guard message.bytes.count <= context.limits.inboundMessageBytesMax else { return close(.messageTooBig) }
        if peer?.received(message.bytes, as: message.kind) == false,
            !controls.take(of: context.controlRate, nowMs: context.clock.nowMs)
        {
            close(.policyViolation)
        }
    }

    // MARK: Time

    /// Processes everything whose deadline has passed; false when the session is over.
    func sweep() -> Bool {
        let nowMs = context.clock.nowMs
        if let heldSend, nowMs >= heldSend.untilMs {
            self.heldSend = nil
            heldSend.answer(.taken)
        }
        if isProbed { release() }
        switch phase {
        case .open:
            // A client that fetches is not slow, however much it requested at once.
            if let oldestMs = queue.oldestMs, nowMs - max(oldestMs, fetchedMs) >= context.limits.outboundAgeMs {
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

    /// Whether the session may move: only one WebSocket is tried at a time.
    var mayMove: Bool { phase == .open && !isProbed && !awaitsReceipt }

    /// The client has begun or given up trying a WebSocket.
    func probed(_ isProbed: Bool) {
        self.isProbed = isProbed
        if isProbed { release() }
    }

    /// Moves the session to a WebSocket, with the packets that wait; `nil` when it cannot move.
    func move() -> (peer: Peer, waiting: [(frame: [UInt8], item: OutboundItem?)], isEstablished: Bool)? {
        guard phase == .open, !awaitsReceipt, let peer else { return nil }
        release()
        if let heldSend {
            self.heldSend = nil
            heldSend.answer(.taken)
        }
        phase = .over
        self.peer = nil
        context.open.ended(self)
        places.release(address, wasEstablished: isEstablished)
        context.statistics.transport.queuedBytes.add(-queue.byteCount)
        return (peer, queue.handOver(), isEstablished)
    }

    private func release() {
        guard phase == .open, let held = heldFetch else { return }
        heldFetch = nil
        let isEmpty = queue.isEmpty || awaitsReceipt
        held.answer(.packets(isEmpty ? [EnginePacket.Kind.noop.rawValue] : packets()))
    }

    // MARK: Answers

    /// Answers a held fetch with the packets that wait.
    func flush() {
        guard phase == .open, !isTaking, !awaitsReceipt, !queue.isEmpty, let held = heldFetch else { return }
        if batch.postpones(self) { return }
        heldFetch = nil
        held.answer(.packets(packets()))
    }

    // MARK: Transport

    /// The packets that wait until the client fetches them.
    public var load: QueueLoad { queue.load }

    /// Packets of Engine.IO.
    public var framing: Framing { .packets }

    /// The items of the packets that wait.
    public var waitingItems: [OutboundItem] { queue.items }

    /// The first item that the client has not fetched and that matches.
    public func firstWaiting(where matches: (OutboundItem) -> Bool) -> OutboundItem? { queue.firstItem(where: matches) }

    /// Queues a packet, and answers a held fetch with it.
    public func send(_ unit: WireUnit) {
        guard phase == .open else { return }
        append(framing.frame([unit]), nil)
        flush()
    }

    /// Queues an event; false when the client does not fetch the packets that wait.
    public func send(_ delivery: Delivery, _ encoding: Encoding, own: EventDecoration?, isBacklog: Bool) -> Bool {
        let shared = delivery.frame(encoding)
        let frame = own?.frame(shared, framing) ?? shared
        guard phase == .open, !frame.isEmpty else {
            context.undeliverable(delivery)
            return true
        }
        guard isBacklog || queue.isEmpty || hasRoom(frame.count) else {
            delivery.countRefused()
            context.statistics.transport.itemsDropped.add(1)
            return false
        }
        append(frame, delivery, isBacklog: isBacklog)
        flush()
        return true
    }

    /// Answers held requests, and keeps the end for `closeMs` until the client has received it.
    public func close(_ reason: CloseReason) {
        guard phase == .open else { return }
        context.logEnd(reason, of: peer, at: address, bytesUnsent: queue.byteCount)
        endedBy = reason
        if reason == .slowConsumer {
            peer?.discards(waitingItems)
            drop(isSlow: true)
        }
        peer?.closes(reason)
        if let heldSend {
            self.heldSend = nil
            heldSend.answer(.fault(.request))
        }
        if let held = heldFetch {
            heldFetch = nil
            if reason != .peerGone {
                phase = .telling(untilMs: context.clock.nowMs + context.limits.closeMs)
                return tellEnd(held.answer)
            }
            // The client is gone: waiting packets are not counted as written.
            phase = .over
            held.answer(.fault(.session))
        } else if hasLeft || reason == .timeout || reason == .peerGone {
            phase = .over
        } else {
            phase = .telling(untilMs: context.clock.nowMs + context.limits.closeMs)
        }
    }

    /// Takes the client out of the counts of unauthenticated ones, once.
    public func established() {
        guard !isEstablished else { return }
        isEstablished = true
        places.established(address)
    }

    /// The shard checks all polling sessions often enough.
    public func deadlineChanged() {}

    // MARK: The queue

    /// Whether the client did nothing wrong, and will reconnect here or elsewhere.
    private var comesBack: Bool { endedBy == .restart || endedBy == .slowConsumer || endedBy == .goingAway }

    /// Whether the client itself has ended the session.
    private var hasLeft: Bool { endedBy == .normal }

    private func append(_ frame: [UInt8], _ item: OutboundItem?, isBacklog: Bool = false) {
        queue.append(
            frame, packets: EnginePayload.packetCount(frame), item: item, isBacklog: isBacklog,
            nowMs: context.clock.nowMs)
        context.statistics.transport.queuedBytes.add(frame.count)
    }

    private func hasRoom(_ bytes: Int) -> Bool {
        queue.unowedBytes + bytes <= context.limits.outboundBytesMax
            && context.statistics.transport.queuedBytes.value + bytes
                <= context.limits.outboundTotalBytesMax / context.shardCount
    }

    /// As many waiting packets as one answer may hold, with the last packet behind them.
    private func packets(last: EnginePacket.Kind? = nil) -> [UInt8] {
        fetchedMs = context.clock.nowMs
        let before = queue.byteCount
        var (frames, items) = queue.take(
            EnginePayload.packetsMax - (last == nil ? 0 : 1), bytesMax: EnginePayload.bytesMax)
        context.statistics.transport.queuedBytes.add(queue.byteCount - before)
        context.statistics.transport.itemsWritten.add(items)
        if let last { frames.append([last.rawValue]) }
        return Array(frames.joined(separator: [EnginePayload.separator]))
    }

    /// Answers a fetch with the end; a client that closed the session only has its fetch released.
    ///
    /// Some clients do not reconnect after the packet `close`. A client that is to reconnect therefore finds its
    /// session unknown, once it has received all waiting packets.
    private func tellEnd(_ answer: Answer) {
        // Packets sent after others that may be lost would hide the hole.
        if awaitsReceipt || (comesBack && queue.isEmpty) {
            phase = .over
            return answer(.fault(.session))
        }
        if comesBack { return answer(.packets(packets())) }
        phase = .over
        answer(.packets(packets(last: hasLeft ? .noop : .close)))
    }

    private func drop(isSlow: Bool) {
        context.statistics.transport.queuedBytes.add(-queue.byteCount)
        context.statistics.transport.itemsDropped.add(queue.removeAll(isSlow: isSlow))
    }

    /// Must not be called from inside a call of the peer.
    private func endPeer() {
        guard let peer else { return }
        self.peer = nil
        peer.ended(endedBy ?? .peerGone, waiting: waitingItems)
        context.open.ended(self)
        places.release(address, wasEstablished: isEstablished)
    }
}
