import Configuration
import Core
import Reactors
import RedisLink
import Service

/// Sends the events of many topics to one receiver; those of one topic in order, one after another.
///
/// A lease in Redis assigns a topic to a courier, and a cursor marks the events done. So a courier that dies loses
/// nothing, and its events in hand are sent again. Thread: the courier's.
final class WebhookLane {
    /// Events done, attempts that failed, events given up, and gaps that were sent.
    struct Counts {
        var sent = 0
        /// By ``WebhookOutcome/label(_:)``.
        var failed: [String: Int] = [:]
        var dead = 0
        var gaps = 0
    }

    let patterns: WebhookPatterns
    let name: String
    private(set) var counts = Counts()
    /// Time and cause of the last attempt that failed; the time is milliseconds since 1970.
    private(set) var lastFailure: (wallMs: Int, reason: String)?
    private let parts: CourierParts
    private let url: String
    private let giveUpMs: Int
    /// The signer; a reload replaces it.
    var signer: WebhookSigner
    private let link: any RedisCalls
    private let web: any WebClient
    private let monotonicMs: () -> Int
    private var topics: WebhookTopics
    private var breaker: Breaker
    /// The event that fails at the head of each topic, since when, and how often.
    private var failing: [Topic: (id: String, sinceMs: Int, attempts: Int)] = [:]
    /// The time from which the receiver gets events, milliseconds since 1970; `nil` until Redis has answered.
    private var sinceMs: Int?
    private var reportedTrouble = ""
    /// After the end of all epochs each topic has a gap.
    private var gapNotes = LineSampler(perSecond: 1)
    private var failureNotes: LineSampler
    /// Whether no new delivery begins.
    var isDraining = false

    private static let pageEvents = 64
    /// The life of a cursor while events remain, or where its topic's position has no end: 31 days.
    private static let cursorMs = 2_678_400_000
    private static let retryMs = 500

    /// Each receiver has its own engine, so that a slow one blocks no other.
    convenience init(
        _ parts: CourierParts, _ receiver: WebhookSettings, signer: WebhookSigner, link: any RedisCalls,
        reactor: Reactor
    ) throws(Errno) {
        let web = try WebEngine(reactor, parts.webLimits(hostConnectionsMax: 16))
        self.init(parts, receiver, signer: signer, link: link, web: web) { reactor.nowMs }
    }

    init(
        _ parts: CourierParts, _ receiver: WebhookSettings, signer: WebhookSigner, link: any RedisCalls,
        web: any WebClient, monotonicMs: @escaping () -> Int
    ) {
        self.parts = parts
        self.link = link
        self.web = web
        self.monotonicMs = monotonicMs
        self.signer = signer
        (name, url) = (receiver.name, receiver.url)
        giveUpMs = receiver.giveUpSeconds * 1_000
        patterns = WebhookPatterns(receiver)
        topics = WebhookTopics(countMax: parts.limits.courier.webhookKnownMax)
        failureNotes = LineSampler(perSecond: parts.limits.clientLinesPerSecond)
        breaker = Breaker(pauseMinMs: 500, pauseMaxMs: parts.limits.courier.webhookPauseMs)
    }

    /// Topics in hand and waiting, for metrics and the end.
    var busyCount: Int { topics.busyCount }
    var waitingCount: Int { topics.waitingCount }
    /// When the oldest event that fails first failed, monotonic milliseconds; `nil` without one.
    var failingSinceMs: Int? { failing.values.map(\.sinceMs).min() }
    /// Whether only single attempts are made.
    var isOpen: Bool { breaker.isOpen }
    /// Whether more topics were reported than are remembered.
    var isIncomplete: Bool { topics.isIncomplete }
    /// The time of the next action that only time causes.
    var nextMs: Int {
        guard topics.waitingCount > 0 else { return Int.max }
        return breaker.holdMs > monotonicMs() ? breaker.holdMs : topics.nextMs
    }

    /// Cancels all requests in flight.
    func stop() { web.stop() }

    /// A scan of all topics is about to begin.
    func sweeps() {
        topics.complete()
        readMark()
    }

    /// An event was published on a topic, or may have been.
    func noted(_ topic: Topic) {
        if patterns.takes(topic) { topics.noted(topic) }
    }

    // MARK: Beginning

    /// Reads the time from which the receiver gets events; the first time Redis stores it.
    ///
    /// When a mark that this courier has read before is missing, Redis has lost its data.
    private func readMark() {
        let call = ScriptCall(
            script: parts.scripts.mark, keys: [parts.keys.webhook(name)], arguments: [sinceMs.map(text) ?? []])
        link.run(call, lane: nil) { [weak self] result in
            guard let self, let mark = WebhookMark(result) else { return }
            if let known = sinceMs, mark.sinceMs > known || mark.isNew {
                let reason = "the time from which the receiver is told was gone"
                tell("Redis has lost data: no gap tells of topics that are gone", [("reason", reason)])
            }
            sinceMs = min(sinceMs ?? mark.sinceMs, mark.sinceMs)
        }
    }

    /// Starts topics as long as there is room.
    func work(nowMs: Int) {
        guard link.isReady, sinceMs != nil, !isDraining else { return }
        while topics.busyCount < parts.limits.courier.webhookTopicsMax, breaker.wouldAdmit(nowMs: nowMs),
            !(breaker.isOpen && topics.busyCount > 0), let topic = topics.next(nowMs: nowMs)
        {
            step(topic, done: nil, count: WebhookLane.pageEvents) { [weak self] in self?.began(topic, $0) }
        }
    }

    private func step(
        _ topic: Topic, done: (epoch: [UInt8], offset: Int)?, count: Int, _ then: @escaping ([RESPValue]?) -> Void
    ) {
        let (keys, own) = (parts.keys, Array(name.utf8))
        let call = ScriptCall(
            script: parts.scripts.step,
            keys: [
                keys.domain(topic, facet: "hook", member: own), keys.domain(topic, facet: "hook-lease", member: own),
                keys.meta(topic), keys.log(topic), keys.pastLog(topic),
            ],
            arguments: [
                parts.name, text(parts.limits.courier.webhookLeaseMs), done?.epoch ?? [],
                done.map { text($0.offset) } ?? [],
                text(count), text(WebhookLane.cursorMs), text(sinceMs ?? 0),
            ])
        link.run(call, lane: nil) { result in
            guard case .success(let value) = result else { return then(nil) }
            then(value.elements)
        }
    }

    private func text(_ number: Int) -> [UInt8] { Array(String(number).utf8) }

    /// Takes a page of events, or the reason why there is none.
    private func began(_ topic: Topic, _ reply: [RESPValue]?) {
        let nowMs = monotonicMs()
        switch reply?.first?.integer {
        case 0:
            let otherMs = reply?.last?.integer ?? 0
            let pauseMs = min(max(otherMs, 0), parts.limits.courier.webhookLeaseMs) + Int.random(in: 20...200)
            topics.ended(topic, againMs: nowMs + pauseMs)
        case 2:
            failing[topic] = nil
            topics.ended(topic)
        case 3:
            let (since, now) = (sinceMs ?? 0, parts.clock.wallMs)
            guard let work = WebhookWork(topic, reply: reply, patterns: patterns, sinceMs: since, wallMs: now) else {
                tell("the log of a topic cannot be read", [("topic", topic.description)])
                return topics.ended(topic, againMs: nowMs + parts.limits.courier.webhookPauseMs)
            }
            go(on: work)
        default:
            // Redis is unavailable, or refuses: the topic is read again.
            topics.ended(topic, againMs: nowMs + WebhookLane.retryMs)
        }
    }

    // MARK: Sending

    private func go(on work: WebhookWork) {
        guard let event = work.next else {
            return step(
                work.topic, done: (work.epoch, work.lastOffset), count: isDraining ? -1 : WebhookLane.pageEvents
            ) {
                [weak self] in self?.began(work.topic, $0)
            }
        }
        guard event.isReadable(parts.limits.answers) else { return giveUp(work, event, "the event cannot be read") }
        guard !isDraining, breaker.admits(nowMs: monotonicMs()) else {
            return release(work.topic, againMs: breaker.holdMs)
        }
        let (id, time, body) = (event.id(work.topic), parts.clock.wallMs / 1_000, event.body(work.topic))
        let request = WebRequest(
            .post(body), url,
            headers: [
                ("content-type", "application/json"), ("webhook-id", id), ("webhook-timestamp", String(time)),
                ("webhook-signature", signer.signature(id: id, timestamp: time, body: body)),
            ], deadlineMs: monotonicMs() + parts.limits.courier.webhookMs)
        web.send(request) { [weak self] in self?.ended(work, event, $0) }
    }

    private func ended(_ work: WebhookWork, _ event: WebhookEvent, _ result: Result<WebReply, WebFailure>) {
        let nowMs = monotonicMs()
        switch WebhookOutcome(result) {
        case .done:
            let wasOpen = breaker.isOpen
            breaker.succeeded()
            if wasOpen {
                topics.wake()
                reportedTrouble = ""
                parts.log.write(.info, "a receiver of webhooks is back", [("receiver", name)])
            }
            counts.sent += 1
            if let after = event.after { gap(work.topic, event, after, nowMs) }
            finished(work)
        case .away(let reason, let retryAfterMs):
            breaker.failed(nowMs: nowMs, retryAfterMs: retryAfterMs)
            tell("a receiver of webhooks is away", [("reason", reason)])
            let pauseMs = pauseMs(work.topic, event, nowMs)
            failed(work.topic, event, reason, WebhookOutcome.label(result), nowMs)
            release(work.topic, againMs: max(breaker.holdMs, nowMs + pauseMs))
        case .refused(let reason, let isFinal):
            breaker.succeeded()
            let pauseMs = pauseMs(work.topic, event, nowMs)
            failed(work.topic, event, reason, WebhookOutcome.label(result), nowMs)
            let sinceMs = failing[work.topic]?.sinceMs ?? nowMs
            guard !isFinal, nowMs - sinceMs < giveUpMs else { return giveUp(work, event, reason) }
            release(work.topic, againMs: nowMs + pauseMs)
        }
    }

    /// Counts an attempt that failed, and logs it unless too many fail in this second.
    private func failed(_ topic: Topic, _ event: WebhookEvent, _ reason: String, _ label: String, _ nowMs: Int) {
        counts.failed[label, default: 0] += 1
        lastFailure = (parts.clock.wallMs, reason)
        guard let leftOut = failureNotes.take(nowMs: nowMs) else { return }
        let attempt = failing[topic].map { [("attempt", String($0.attempts))] } ?? []
        let more = leftOut > 0 ? [("leftOut", String(leftOut))] : []
        parts.log.write(
            .info, "a webhook failed",
            [("receiver", name), ("reason", reason), ("topic", "\(topic)"), ("id", event.id(topic))] + attempt + more)
    }

    /// Counts a gap that the receiver has accepted, and logs it.
    private func gap(_ topic: Topic, _ event: WebhookEvent, _ after: WebhookPlace, _ nowMs: Int) {
        counts.gaps += 1
        guard let others = gapNotes.take(nowMs: nowMs) else { return }
        let place = [("topic", "\(topic)"), ("after", "\(after)"), ("before", "\(event.place)")]
        let fields = [("receiver", name)] + place + [("other_gaps", String(others))]
        parts.log.write(.warn, "a receiver of webhooks missed events and got a gap", fields)
    }

    /// Records a failure of the event at a topic's head; returns the pause before its retry.
    private func pauseMs(_ topic: Topic, _ event: WebhookEvent, _ nowMs: Int) -> Int {
        let id = event.id(topic)
        var known = (id: id, sinceMs: nowMs, attempts: 0)
        if let before = failing[topic], before.id == id { known = before }
        known.attempts += 1
        if failing.count < parts.limits.courier.webhookKnownMax || failing[topic] != nil { failing[topic] = known }
        let ceilingMs = min(500 << min(known.attempts, 16), parts.limits.courier.webhookPauseMs)
        return Int.random(in: ceilingMs / 2...ceilingMs)
    }

    private func finished(_ work: WebhookWork) {
        failing[work.topic] = nil
        var left = work
        let offset = work.doneOffset
        left.advance()
        guard left.next != nil, !isDraining else {
            let isPageOver = left.next == nil
            let upTo = isPageOver ? work.lastOffset : offset
            return step(work.topic, done: (work.epoch, upTo), count: isDraining ? -1 : WebhookLane.pageEvents) {
                [weak self] in self?.began(work.topic, $0)
            }
        }
        step(work.topic, done: (work.epoch, offset), count: 0) { [weak self] reply in
            guard let self else { return }
            // Another courier has the topic, or Redis is unavailable: the page is read again.
            guard reply?.first?.integer == 1 else { return began(work.topic, reply) }
            go(on: left)
        }
    }

    /// Stores an event among the dead ones for the operator, and continues after it.
    private func giveUp(_ work: WebhookWork, _ event: WebhookEvent, _ reason: String) {
        let key = parts.keys.webhookDead(name)
        var call = RedisCall("XADD", key, Array("MAXLEN".utf8), Array("~".utf8))
        call.append(decimal: parts.limits.courier.webhookDeadMax)
        for word in ["*", "id", event.id(work.topic), "topic", work.topic.description, "reason", reason] {
            call.append(word.utf8)
        }
        for (name, value) in [("e", event.name), ("d", event.content)] {
            call.append(name.utf8)
            call.append(value)
        }
        link.call(call) { [weak self] result in
            guard let self else { return }
            guard case .success = result else {
                return topics.ended(work.topic, againMs: monotonicMs() + WebhookLane.retryMs)
            }
            counts.dead += 1
            parts.log.write(
                .error, "a webhook was given up",
                [
                    ("receiver", name), ("id", event.id(work.topic)), ("reason", reason),
                    ("kept", String(decoding: key, as: UTF8.self)),
                ])
            finished(work)
        }
        link.call(RedisCall("EXPIRE", key, Array("604800".utf8))) { _ in }
    }

    /// Returns a topic: the first courier to take it continues.
    private func release(_ topic: Topic, againMs: Int) {
        step(topic, done: nil, count: -1) { [weak self] _ in
            if let self { topics.ended(topic, againMs: max(againMs, monotonicMs() + 1)) }
        }
    }

    /// Logs a fault, once for each reason.
    private func tell(_ message: String, _ fields: [(String, String)]) {
        let reason = message + (fields.first?.1 ?? "")
        guard reportedTrouble != reason else { return }
        reportedTrouble = reason
        parts.log.write(.warn, message, [("receiver", name)] + fields)
    }
}
