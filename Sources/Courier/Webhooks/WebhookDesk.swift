import Configuration
import Core
import Reactors
import RedisLink
import Service
import Transport

/// Watches topics for all receivers: what is published is told at once, and now and then all logs are looked through, for what
/// nobody told of.
///
/// Thread: the courier's.
final class WebhookDesk: PatternLinkOwner {
    /// The receivers.
    let lanes: [WebhookLane]
    private let parts: CourierParts
    private let link: CallLink
    private let reactor: Reactor
    private var patterns: PatternLink?
    private var sweepMs = Int.max
    private var cursor: [UInt8]?
    private var isScanning = false

    private static let firstCursor = Array("0".utf8)

    init(
        _ parts: CourierParts, link: CallLink, servers: LocalServers, context: ConnectionContext, reactor: Reactor
    ) throws(Errno) {
        self.parts = parts
        self.link = link
        self.reactor = reactor
        lanes = try parts.receivers.map { (receiver) throws(Errno) in
            try WebhookLane(parts, receiver, link: link, reactor: reactor)
        }
        guard !lanes.isEmpty else { return }
        let wanted = lanes.map { $0.patterns.channels(parts.keys) }
        patterns = try PatternLink(
            context, parts.redis, servers.board,
            name: "switchboard-courier-" + String(decoding: parts.name, as: UTF8.self) + "-events",
            patterns: Array(Set(wanted.flatMap(\.patterns))), channels: Array(Set(wanted.flatMap(\.channels))),
            pingMs: parts.limits.redisProbeMs, pongMs: parts.limits.redisProbeTimeoutMs, owner: self)
    }

    /// Whether events are told as they happen.
    var isLive: Bool { lanes.isEmpty || patterns?.isLive == true }
    /// Whether nothing is in hand.
    var isIdle: Bool { lanes.allSatisfy { $0.busyCount == 0 } }
    /// When there is something to do for time alone.
    var nextMs: Int { lanes.reduce(isScanning ? Int.max : sweepMs) { min($0, $1.nextMs) } }

    /// The command link is there.
    func connected() {
        for lane in lanes { lane.connected() }
        sweep()
    }

    /// Begins nothing more.
    func drain() {
        for lane in lanes { lane.isDraining = true }
        patterns?.stop()
    }

    /// Ends what is on its way.
    func stop() {
        for lane in lanes { lane.stop() }
    }

    /// Does what there is to do, each tick.
    func work(nowMs: Int) {
        if lanes.contains(where: \.isIncomplete) && cursor == nil { sweepMs = min(sweepMs, nowMs + 1_000) }
        if sweepMs <= nowMs { scan() }
        for lane in lanes { lane.work(nowMs: nowMs) }
    }

    // MARK: Looking through all logs

    private func sweep() {
        cursor = nil
        sweepMs = reactor.nowMs
        isScanning = false
    }

    private func scan() {
        guard link.isReady, !isScanning, !lanes.isEmpty else { return }
        if cursor == nil {
            cursor = WebhookDesk.firstCursor
            for lane in lanes { lane.sweeps() }
        }
        isScanning = true
        var call = RedisCall("SCAN", cursor ?? WebhookDesk.firstCursor)
        call.append("MATCH")
        call.append(parts.keys.prefix + Array("*#log".utf8))
        call.append("COUNT")
        call.append(decimal: parts.limits.scanKeys)
        link.call(call) { [weak self] in self?.scanned($0) }
    }

    private func scanned(_ result: Result<RESPValue, RedisFailure>) {
        isScanning = false
        guard case .success(let value) = result, let parts = value.elements, parts.count == 2,
            let next = parts[0].bytes,
            let names = parts[1].elements
        else {
            sweepMs = reactor.nowMs + 1_000
            return
        }
        for name in names.compactMap(\.bytes) {
            guard let topic = self.parts.keys.topic(ofChannel: Array(name.dropLast("#log".utf8.count))) else {
                continue
            }
            for lane in lanes { lane.told(topic) }
        }
        let isOver = next == WebhookDesk.firstCursor
        cursor = isOver ? nil : next
        sweepMs = reactor.nowMs + (isOver ? self.parts.limits.webhookSweepMs : self.parts.limits.scanPauseMs)
    }

    // MARK: PatternLinkOwner

    func patternsLive() {
        // What was published before may have been missed.
        sweep()
    }

    func patternMessage(_ channel: [UInt8], _ payload: [UInt8]) {
        guard let topic = parts.keys.topic(ofChannel: channel) else { return }
        for lane in lanes { lane.told(topic) }
    }

    func patternsLost(_ failure: RedisFailure) {
        parts.log.write(.warn, "events are not told: the link is lost", [("reason", failure.metricLabel)])
    }
}
