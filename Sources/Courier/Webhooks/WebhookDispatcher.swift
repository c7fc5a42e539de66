import Configuration
import Connections
import Core
import Reactors
import RedisLink
import Service

/// Watches topics for all receivers: events start deliveries at once, and periodic scans of all logs find missed ones.
///
/// Thread: the courier's.
final class WebhookDispatcher {
    /// The receivers.
    let lanes: [WebhookLane]
    private let parts: CourierParts
    private let link: any RedisCalls
    private let reactor: Reactor
    private var ears: WebhookListener?
    private var sweepMs = Int.max
    /// The time of the next write of figures.
    private var figuresMs = 0
    /// Whether the scan also finds topics with only a position: the first scan of each connection does.
    private var isWide = false
    private var cursor: [UInt8]?
    private var isScanning = false
    /// The number of the scan of all logs; a page of an earlier scan is dropped.
    private var look = 0

    private static let facets = ["log", "log-past", "meta"].map { Array($0.utf8) }
    private static let cursorFacet = Array("hook#".utf8)

    init(
        _ parts: CourierParts, redis: WholeRedis, reactor: Reactor
    ) throws(Errno) {
        self.parts = parts
        let link = redis.link
        self.link = link
        self.reactor = reactor
        var lanes: [WebhookLane] = []
        for receiver in parts.receivers {
            guard let signer = parts.secrets.signers[receiver.name] else { continue }
            lanes.append(try WebhookLane(parts, receiver, signer: signer, link: link, reactor: reactor))
        }
        self.lanes = lanes
        guard !lanes.isEmpty else { return }
        // Events published before the subscription may have been missed.
        let observer = WebhookListener.Observer(
            onLive: { [weak self] in self?.sweep() },
            onTopic: { [weak self] topic in self?.noted(topic) })
        ears = try WebhookListener(parts, redis, lanes.map(\.patterns), observer)
    }

    /// Whether events are reported as they happen.
    var isLive: Bool { lanes.isEmpty || ears?.isLive == true }
    /// Whether no work is in hand.
    var isIdle: Bool { lanes.allSatisfy { $0.busyCount == 0 } }
    /// The time of the next action that only time causes.
    var nextMs: Int {
        let ownMs = lanes.isEmpty ? Int.max : min(isScanning ? Int.max : sweepMs, figuresMs)
        return lanes.reduce(min(ownMs, ears?.nextMs ?? Int.max)) { min($0, $1.nextMs) }
    }

    /// Takes a placement: topics are watched there.
    func follow(_ placement: Placement) { ears?.follow(placement) }

    /// A link for commands is connected to a server.
    func connected(_ server: ServerID) { ears?.connected(server) }

    /// The time is known, after each new connection or with other masters: events may have been missed.
    func begin() {
        isWide = true
        sweep()
    }

    private func noted(_ topic: Topic) {
        for lane in lanes { lane.noted(topic) }
    }

    /// Begins no new deliveries.
    func drain() {
        for lane in lanes { lane.isDraining = true }
        ears?.stop()
        figuresMs = Int.max
        removeFigures(parts, link)
    }

    /// Cancels all deliveries in flight.
    func stop() {
        for lane in lanes { lane.stop() }
    }

    /// Performs the due actions, each tick.
    func work(nowMs: Int) {
        if lanes.contains(where: \.isIncomplete) && cursor == nil { sweepMs = min(sweepMs, nowMs + 1_000) }
        ears?.work(nowMs: nowMs)
        if sweepMs <= nowMs { scan() }
        for lane in lanes { lane.work(nowMs: nowMs) }
        guard !lanes.isEmpty, figuresMs <= nowMs, link.isReady else { return }
        figuresMs = nowMs + WebhookDispatcher.figuresEveryMs
        writeFigures(parts, link, nowMs: nowMs)
    }

    // MARK: Looking through all logs

    private func sweep() {
        look += 1
        cursor = nil
        sweepMs = reactor.nowMs
        isScanning = false
    }

    private func scan() {
        guard link.isReady, !isScanning, !lanes.isEmpty else { return }
        if cursor == nil {
            cursor = KeyPage.firstCursor
            for lane in lanes { lane.sweeps() }
        }
        isScanning = true
        let call = KeyPage.call(
            at: cursor ?? KeyPage.firstCursor,
            matching: parts.keys.prefix + Array((isWide ? "*#[lhm][oe]*" : "*#[lh]o*").utf8),
            count: parts.limits.scanKeys)
        link.call(call) { [weak self, look] in self?.scanned($0, look) }
    }

    private func scanned(_ result: Result<RESPValue, RedisFailure>, _ look: Int) {
        guard look == self.look else { return }
        isScanning = false
        guard case .success(let value) = result, let page = KeyPage(value) else {
            // On a cluster with other masters the cursor is invalid.
            cursor = nil
            sweepMs = reactor.nowMs + 1_000
            return
        }
        for name in page.names { take(name) }
        if page.isLast { isWide = false }
        cursor = page.isLast ? nil : page.cursor
        sweepMs = reactor.nowMs + (page.isLast ? parts.limits.courier.webhookSweepMs : parts.limits.scanPauseMs)
    }

    /// Takes a key that a scan has found: a topic's log, past log, cursor or position.
    private func take(_ name: [UInt8]) {
        guard let mark = name.firstIndex(of: UInt8(ascii: "#")),
            let topic = parts.keys.topic(ofChannel: Array(name[..<mark]))
        else { return }
        let facet = name[(mark + 1)...]
        if WebhookDispatcher.facets.contains(where: { facet.elementsEqual($0) }) { return noted(topic) }
        guard facet.starts(with: WebhookDispatcher.cursorFacet) else { return }
        // Of a topic with undelivered events, only the cursor may be left.
        let receiver = facet.dropFirst(WebhookDispatcher.cursorFacet.count)
        for lane in lanes where receiver.elementsEqual(lane.name.utf8) { lane.noted(topic) }
    }
}
