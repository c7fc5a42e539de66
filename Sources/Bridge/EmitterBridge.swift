import Commands
import Configuration
public import Connections
import Core
import Dialects
import EventLogs
import Operations
public import Reactors
public import RedisLink
import Rights
import Service

/// Publishes the events of Socket.IO backends that write to Redis (`--bridge`) on the topics their rooms name.
///
/// Every node with the bridge receives all of them, and one publishes them: the holder of a lease in Redis. So each
/// event is numbered once in its topic's log, and reaches the clients of all nodes as any other event does.
///
/// Thread: the first shard's.
public final class EmitterBridge: PatternLinkOwner {
    private let context: BridgeContext
    private let reactor: Reactor
    private let own: [UInt8]
    private let reader: PublishReader
    private var patterns: HomePatterns?
    /// Goes on publishing after a turn of the loop that had enough.
    private var timer: ReactorTimer?
    private var backlog: BridgeBacklog
    private var samplers: [LineSampler]
    /// For lines about lost events.
    private var losses: LineSampler
    private var isAsking = false
    private var askMs = Int.min
    /// The mark of the last call, and when it was made.
    private var asked: (tag: [UInt8], ms: Int) = ([], 0)
    /// Whether the lease was free at the last look: then a node without a mark may take it, too.
    private var wasFree = false
    /// The node of the last mark, for the log.
    private var holder: [UInt8] = []
    private var isLeaving = false
    private var isPublishing = false
    /// Why the lease cannot be asked for; `nil` when it can.
    private var failure: RedisFailure?
    /// The last time at which messages arrived and the lease could be asked for.
    private var wellMs: Int
    /// The last time at which a mark of any node arrived, or the link was made.
    private var heardMs: Int

    /// Milliseconds for which an event is tried.
    private static let patienceMs = 30_000
    /// Milliseconds without a link after which readiness warns.
    private static let graceMs = 2_000
    /// Milliseconds without a mark of any node after which nobody publishes: a free lease is taken sooner.
    private static let silentMs = 4_000
    /// The most bytes of an emitter's text in a log line.
    private static let textBytesMax = 128

    /// Makes the link, and begins to dial; `asking` receives the reasons to ask where the servers are.
    public init(
        _ context: BridgeContext, _ target: RedisTarget, _ connections: ConnectionContext,
        asking: @escaping (ServerHint) -> Void
    ) throws(Errno) {
        self.context = context
        reactor = connections.reactor
        (wellMs, heardMs) = (connections.reactor.nowMs, connections.reactor.nowMs)
        own = Array(context.node.utf8)
        reader = PublishReader(.broadcast, bytesMax: context.limits.publishBytesMax)
        backlog = BridgeBacklog(bytesMax: context.limits.publishWaitingBytesMax)
        samplers = BridgeStatistics.Reason.allCases.map { _ in
            LineSampler(perSecond: context.limits.clientLinesPerSecond)
        }
        losses = LineSampler(perSecond: context.limits.clientLinesPerSecond)
        let wish = KeyEvents.Wish(
            patterns: context.source.patterns, channels: context.source.channels + [context.source.key], flags: nil,
            pingMs: context.limits.redisProbeMs, pongMs: context.limits.redisProbeTimeoutMs)
        timer = try ReactorTimer(reactor) { [unowned self] in publish() }
        patterns = try HomePatterns(
            LinkSetup(connections, target, name: "switchboard-\(context.node)-bridge"), wish, key: context.source.key,
            owner: self, asking: asking)
    }

    /// Leads the link to the servers of a placement.
    public func follow(_ placement: Placement) { patterns?.follow(placement) }

    /// The node ends soon: another one is to publish instead.
    public func leave() { isLeaving = true }

    /// Ends the link.
    ///
    /// A node without an heir loses what waits.
    public func stop() {
        patterns?.stop()
        timer?.invalidate()
        let waiting = backlog.count
        guard backlog.isHolder, waiting > 0 else { return }
        context.figures.lost.add(waiting)
        context.log.write(
            .warn, "events of emitters were not published before the end", [("events", "\(waiting)")])
    }

    /// Renews the lease and retries what failed; called four times a second.
    public func sweep(nowMs: Int) {
        let patienceMs = min(EmitterBridge.patienceMs, context.limits.idempotencySeconds * 500)
        lose(backlog.expire(beforeMs: nowMs - patienceMs), .late)
        backlog.retry()
        publish()
        if askMs <= nowMs { ask() }
        context.figures.holder.set(backlog.isHolder ? 1 : 0)
        context.figures.waiting.set(backlog.count)
        tellHealth(nowMs)
    }

    private func tellHealth(_ nowMs: Int) {
        let isWhole = hasLinks && failure == nil
        let isSilent = nowMs - heardMs > EmitterBridge.silentMs
        if isWhole && !isSilent { wellMs = nowMs }
        if wellMs == nowMs { return context.health.set(.bridge, .fine()) }
        // A link that is made again at once is nothing to warn of.
        guard isSilent || nowMs - wellMs >= EmitterBridge.graceMs else { return }
        context.health.set(
            .bridge,
            isWhole
                ? .silent(context.source.key)
                : .warned(of: patterns?.isLive == true ? failure : patterns?.lastFailure))
    }

    // MARK: The lease

    /// Whether messages arrive, and the shard's link can ask for the lease.
    private var hasLinks: Bool { patterns?.isLive == true && context.link.isReady }

    private func ask() {
        guard hasLinks, !isAsking else { return }
        isAsking = true
        askMs = reactor.nowMs + BridgeLease.everyMs
        // A node that has kept the last holder's messages is to be its heir, so one that has not looks twice.
        let wish: BridgeLease.Wish = isLeaving ? .yield : backlog.isMarked || wasFree ? .take : .keep
        let mark = BridgeMark(
            node: own, tag: SecureRandom.text(byteCount: 9), done: backlog.settledMark(), isYielding: isLeaving)
        asked = (mark.tag, reactor.nowMs)
        context.link.call(BridgeLease.call(context.source.key, wish, mark)) { [weak self] in self?.asked($0) }
    }

    private func asked(_ result: Result<RESPValue, RedisFailure>) {
        isAsking = false
        failure = result.failure
        if case .success(let holder) = result { wasFree = holder.bytes?.isEmpty == true }
    }

    // MARK: The link

    /// The messages arrive from now on.
    public func patternsLive() {
        wasFree = false
        heardMs = reactor.nowMs
        context.log.write(.info, "the bridge receives the events of emitters", [])
        ask()
    }

    /// Messages of emitters do not arrive here until the link is made again.
    public func patternsLost(_ failure: RedisFailure) {
        backlog.lost()
        context.log.write(
            .warn, "the bridge has lost its link: events of emitters may be missing",
            [("reason", failure.metricLabel), ("detail", failure.detail)])
    }

    /// Takes a mark of a node, or a message of an emitter.
    public func patternMessage(_ channel: [UInt8], _ payload: [UInt8]) {
        guard channel == context.source.key else {
            if !backlog.receive(channel, payload, nowMs: reactor.nowMs) { lose(1, .noRoom) }
            return publish()
        }
        guard let mark = BridgeMark(payload) else { return }
        heardMs = reactor.nowMs
        // A node that stood still reads its own marks late; they tell of the time at which it sent them.
        let sentMs = mark.node != own ? reactor.nowMs : mark.tag == asked.tag ? asked.ms : Int.min
        lose(backlog.mark(mark, own: own, sentMs: sentMs), .unheld)
        if mark.node != holder {
            holder = mark.node
            context.log.write(.info, "a node publishes the events of emitters", [("node", ClientLog.text(mark.node))])
        }
        if mark.isYielding, mark.node != own, !isLeaving { ask() }
        publish()
    }

    // MARK: Events

    private func publish() {
        guard !isPublishing else { return }
        isPublishing = true
        // Each turn of the loop has a time of its own.
        while let entry = backlog.next(nowMs: reactor.nowMs, turn: reactor.nowUs) { publish(entry) }
        isPublishing = false
        if backlog.isTurnOver { timer?.set(atMs: reactor.nowMs + 1) }
    }

    private func publish(_ entry: BridgeBacklog.Entry) {
        let packet: EmitterPacket
        do throws(EmitterPacket.Fault) {
            packet = try context.source.read(entry.payload, context.limits.json, context.limits.publishBytesMax)
        } catch {
            refuse(BridgeStatistics.Reason(rawValue: error.rawValue) ?? .malformed, entry, "")
            return backlog.settle(entry.number, again: false)
        }
        let requests = packet.rooms.compactMap { request($0, packet, entry) }
        guard !requests.isEmpty, let id = MessageID(entry.id) else {
            return backlog.settle(entry.number, again: false)
        }
        let outcome = Outcome(missing: requests.count)
        for request in requests {
            context.topics.publish(request, id: .bridge(id), payer: nil) { [weak self] in
                self?.published(entry, outcome, $0)
            }
        }
    }

    /// The result of an entry for all its rooms.
    private final class Outcome {
        var missing: Int
        var again = false

        init(missing: Int) { self.missing = missing }
    }

    private func request(
        _ room: [UInt8], _ packet: EmitterPacket, _ entry: BridgeBacklog.Entry
    ) -> PublishRequest? {
        guard let topic = topic(of: room, in: packet.namespace), context.access.policy(of: topic) != nil else {
            // It was told at the first try.
            if !entry.isRepeated { refuse(.topic, entry, ClientLog.text(room.prefix(EmitterBridge.textBytesMax))) }
            return nil
        }
        do throws(Refusal) {
            return try reader.request(on: topic, event: packet.event, text: packet.data, limits: context.limits.json)
        } catch {
            if !entry.isRepeated { refuse(.invalid, entry, error.message) }
            return nil
        }
    }

    /// The topic of a room; where the namespace's rules say that `shopId` means a session of `dj`, so does `shop:42`.
    private func topic(of room: [UInt8], in namespace: [UInt8]) -> Topic? {
        guard let topic = Topic(room) else { return nil }
        let rules = context.sockets[String(decoding: namespace, as: UTF8.self)]
        let meant = rules?.alias[String(decoding: topic.namespace, as: UTF8.self) + "Id"]
        return meant.map { Topic(namespace: Array($0.utf8), id: topic.id) } ?? topic
    }

    private func published(
        _ entry: BridgeBacklog.Entry, _ outcome: Outcome, _ result: Result<EventLog.PublishReceipt, Refusal>
    ) {
        switch result {
        case .success(let receipt): (receipt.isDuplicate ? context.figures.repeated : context.figures.published).add(1)
        case .failure(let refusal):
            let mayPass = refusal.code == .unavailable || refusal.code == .internalError
            outcome.again = outcome.again || mayPass
            if !mayPass { refuse(.invalid, entry, refusal.message) }
        }
        outcome.missing -= 1
        guard outcome.missing == 0 else { return }
        backlog.settle(entry.number, again: outcome.again)
        publish()
    }

    /// The reason why events are given up.
    private enum Loss: String {
        /// Redis did not take them in time.
        case late
        /// Too many waited.
        case noRoom = "no_room"
        /// No gateway held the lease when they came, or the heir has them no longer.
        case unheld

        /// The remedy, for the log.
        var mend: String {
            switch self {
            case .late, .noRoom: "see why Redis does not take them, then let the backend emit them again"
            case .unheld: "let the backend emit them again; two gateways keep what one would lose"
            }
        }
    }

    private func lose(_ count: Int, _ loss: Loss) {
        guard count > 0 else { return }
        context.figures.lost.add(count)
        guard let leftOut = losses.take(nowMs: reactor.nowMs) else { return }
        context.log.write(
            .warn, "events of emitters were lost",
            [
                ("count", "\(count)"), ("reason", loss.rawValue),
                ("mend", loss.mend),
            ] + (leftOut > 0 ? [("leftOut", "\(leftOut)")] : []))
    }

    private func refuse(_ reason: BridgeStatistics.Reason, _ entry: BridgeBacklog.Entry, _ detail: String) {
        context.figures.refused(reason)
        guard let leftOut = samplers[reason.index].take(nowMs: reactor.nowMs) else { return }
        let channel = ClientLog.text(entry.channel.prefix(EmitterBridge.textBytesMax))
        context.log.write(
            .warn, "an event of an emitter was refused",
            [("reason", reason.rawValue), ("channel", channel), ("detail", detail), ("mend", reason.mend)]
                + (leftOut > 0 ? [("leftOut", "\(leftOut)")] : []))
    }
}

extension RowState {
    /// The state of a bridge whose link or lease has failed.
    fileprivate static func warned(of failure: RedisFailure?) -> RowState {
        .warned(failure?.metricLabel ?? "connecting", figures: [("detail", failure?.detail ?? "")])
    }

    /// The state of a bridge whose link and lease are whole, and no gateway publishes.
    fileprivate static func silent(_ key: [UInt8]) -> RowState {
        let name = String(decoding: key, as: UTF8.self)
        return .warned(
            "silent", mend: "see which gateway the key \(name) names; delete the key when there is none of that name",
            figures: [("detail", "no gateway publishes the events of emitters")])
    }
}

@available(*, unavailable)
extension EmitterBridge: Sendable {}
