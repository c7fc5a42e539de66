import Configuration
import Connections
import Core
import Reactors
import RedisLink
import Service

/// Passes questions and calls from Redis to outside services, and their answers back (docs/courier.md).
///
/// Two links wait in Redis for input; all other commands use the courier's own link. Thread: the courier's.
final class ServiceDispatcher {
    /// Questions answered and failed, calls answered and given up.
    struct Counts {
        var answered = 0
        var failed = 0
        var called = 0
        var given = 0
    }

    /// A call in progress, or waiting for a retry.
    private struct Held {
        let call: ServiceCall
        let service: any OutsideService
        let giveUpMs: Int
        var attempts = 0
        var againMs = Int.max
    }

    /// The services.
    let services: [any OutsideService]
    private(set) var counts = Counts()
    private let parts: CourierParts
    private let link: any RedisCalls
    private let monotonicMs: () -> Int
    private let askLink: (any RedisCalls)?
    private let callLink: (any RedisCalls)?
    private var isTaking = false
    private var isClaiming = false
    /// Whether a reply with calls may have been lost: Redis counts them as this courier's, and they are read again.
    private var mayLackClaimed = false
    /// Calls that ended while a claim was under way, whose reply may still have them.
    private var endedMeanwhile: Set<[UInt8]> = []
    private var hasGroups = false
    private var isOutboxFull = false
    private var held: [[UInt8]: Held] = [:]
    private var questions = 0
    private var turn = 0
    private var liveMs = Int.min
    private var takeOverMs = Int.min
    private var lookMs = Int.min
    private var isDraining = false

    private static let questionsMax = 64
    private static let liveEveryMs = 3_000
    private static let takeOverEveryMs = 15_000
    private static let takeOverIdleMs = 60_000
    private static let takeOverCount = 16
    /// The most of this courier's own calls that are read again.
    private static let againCount = 1_000
    /// Milliseconds after which a call is done or given up, since another courier takes it over after 60 s.
    private static let callMs = 45_000
    private static let questionMs = 10_000

    convenience init(
        _ parts: CourierParts, _ services: [any OutsideService], redis: WholeRedis, reactor: Reactor
    ) throws(Errno) {
        let name = "switchboard-courier-" + String(decoding: parts.name, as: UTF8.self)
        let links =
            try services.isEmpty
            ? []
            : ["asks", "calls"].map { (use) throws(Errno) in
                try redis.another(name: name + "-" + use)
            }
        self.init(parts, services, link: redis.link, asks: links.first, calls: links.last) { reactor.nowMs }
    }

    /// `asks` and `calls` are the links that wait for work.
    init(
        _ parts: CourierParts, _ services: [any OutsideService], link: any RedisCalls, asks: (any RedisCalls)?,
        calls: (any RedisCalls)?, monotonicMs: @escaping () -> Int
    ) {
        self.parts = parts
        self.services = services
        self.link = link
        (askLink, callLink) = (asks, calls)
        self.monotonicMs = monotonicMs
    }

    /// Whether no work is in hand.
    var isIdle: Bool { questions == 0 && held.isEmpty }
    /// The number of questions and calls in hand.
    var heldCount: Int { questions + held.count }
    /// The time of the next action that only time causes.
    var nextMs: Int {
        guard !services.isEmpty else { return Int.max }
        return held.values.reduce(min(liveMs, takeOverMs, lookMs)) { min($0, $1.againMs) }
    }

    /// The courier's link is connected.
    func connected() {
        hasGroups = false
        (liveMs, takeOverMs, lookMs) = (Int.min, Int.min, Int.min)
    }

    /// Takes no new work.
    func drain() {
        isDraining = true
        askLink?.stop()
        callLink?.stop()
    }

    /// Performs the due actions, each tick.
    func work(nowMs: Int) {
        guard !services.isEmpty, link.isReady else { return }
        if !isDraining {
            if liveMs <= nowMs { live(nowMs) }
            if lookMs <= nowMs { look(nowMs) }
            if !hasGroups { makeGroups() }
            take()
            claim()
            if takeOverMs <= nowMs { takeOver(nowMs) }
        }
        for (entry, one) in held where one.againMs <= nowMs {
            held[entry]?.againMs = Int.max
            make(entry)
        }
    }

    // MARK: Being alive

    private func live(_ nowMs: Int) {
        liveMs = nowMs + ServiceDispatcher.liveEveryMs
        for service in services {
            link.call(
                RedisCall("SET", parts.keys.courier(of: service.name), parts.name, Array("EX".utf8), Array("10".utf8))
            ) { _ in }
        }
    }

    /// The outbox stream of answers for the worker, which the outbox entries of commands can never fill.
    private var answersTo: [UInt8] {
        parts.keys.outbox(OutboxStream(slot: parts.keys.commonSlot, lane: 0, isFollowUp: true))
    }

    /// Checks whether the outbox is full: then no call is claimed, since its answer could not be stored there.
    private func look(_ nowMs: Int) {
        lookMs = nowMs + 1_000
        link.call(RedisCall("XLEN", answersTo)) { [weak self] result in
            guard let self, case .success(let value) = result else { return }
            isOutboxFull = (value.integer ?? 0) >= parts.limits.outboxFollowUpsMax
        }
    }

    // MARK: Questions

    private func take() {
        guard let askLink, askLink.isReady, !isTaking, questions < ServiceDispatcher.questionsMax else { return }
        isTaking = true
        var call = RedisCall("BLPOP")
        // The services take turns at being first.
        turn = (turn + 1) % services.count
        for index in services.indices {
            call.append(parts.keys.asks(of: services[(index + turn) % services.count].name))
        }
        call.append("1")
        askLink.call(call) { [weak self] in self?.took($0) }
    }

    private func took(_ result: Result<RESPValue, RedisFailure>) {
        isTaking = false
        guard case .success(let value) = result, let words = value.elements, words.count == 2, let key = words[0].bytes,
            let text = words[1].bytes, let service = services.first(where: { parts.keys.asks(of: $0.name) == key }),
            let question = ServiceQuestion(text, parts.keys)
        else { return }
        let leftMs = question.untilMs - parts.clock.wallMs
        guard leftMs > 0 else { return }
        questions += 1
        service.ask(question.request, deadlineMs: monotonicMs() + min(leftMs, ServiceDispatcher.questionMs)) {
            [weak self] result in
            self?.answer(question, service, result)
        }
    }

    private func answer(
        _ question: ServiceQuestion, _ service: any OutsideService, _ result: Result<[UInt8], ServiceFailure>
    ) {
        questions -= 1
        if case .failure(let failure) = result {
            counts.failed += 1
            parts.log.write(.info, "a question failed", [("service", service.name), ("reason", failure.reason)])
        } else {
            counts.answered += 1
        }
        link.call(RedisCall("PUBLISH", question.channel, question.answer(result))) { _ in }
    }

    // MARK: Calls

    private func makeGroups() {
        hasGroups = true
        for service in services {
            var call = RedisCall("XGROUP", Array("CREATE".utf8), parts.keys.calls(of: service.name))
            for word in ["couriers", "0", "MKSTREAM"] { call.append(word.utf8) }
            // BUSYGROUP: the group exists.
            link.call(call) { _ in }
        }
    }

    /// Whether further calls of a service are taken; calls of other services in hand do not count.
    private func hasRoom(_ service: any OutsideService) -> Bool {
        !service.isOpen && held.values.count { $0.service === service } < service.heldMax
    }

    private func claim() {
        // Calls that are read again are in hand already, as far as Redis is concerned.
        let again = mayLackClaimed
        let open = again ? services : services.filter { hasRoom($0) }
        guard let callLink, callLink.isReady, !isClaiming, again || !isOutboxFull, hasGroups, !open.isEmpty else {
            return
        }
        isClaiming = true
        var call = RedisCall("XREADGROUP", Array("GROUP".utf8), Array("couriers".utf8), parts.name)
        call.append("COUNT")
        call.append(decimal: again ? ServiceDispatcher.againCount : ServiceDispatcher.takeOverCount)
        for word in ["BLOCK", "1000", "STREAMS"] { call.append(word.utf8) }
        for service in open { call.append(parts.keys.calls(of: service.name)) }
        for _ in open { call.append(again ? "0" : ">" as StaticString) }
        callLink.call(call) { [weak self] in self?.claimed($0) }
    }

    private func claimed(_ result: Result<RESPValue, RedisFailure>) {
        isClaiming = false
        defer { endedMeanwhile = [] }
        switch result {
        case .failure(let failure):
            // NOGROUP: Redis has lost the group.
            if failure.detail.hasPrefix("NOGROUP") { hasGroups = false }
            mayLackClaimed = mayLackClaimed || failure.mayHaveExecuted
        case .success(let value):
            mayLackClaimed = false
            for stream in value.elements ?? [] {
                guard let parts = stream.elements, parts.count == 2, let key = parts[0].bytes,
                    let service = services.first(where: { self.parts.keys.calls(of: $0.name) == key })
                else { continue }
                for entry in parts[1].elements ?? [] { hold(entry, service) }
            }
        }
    }

    private func takeOver(_ nowMs: Int) {
        takeOverMs = nowMs + ServiceDispatcher.takeOverEveryMs
        for service in services where hasRoom(service) {
            var call = RedisCall("XAUTOCLAIM", parts.keys.calls(of: service.name), Array("couriers".utf8), parts.name)
            call.append(decimal: ServiceDispatcher.takeOverIdleMs)
            for word in ["0-0", "COUNT"] { call.append(word.utf8) }
            call.append(decimal: ServiceDispatcher.takeOverCount)
            link.call(call) { [weak self] result in
                guard case .success(let value) = result, let words = value.elements, words.count >= 2 else { return }
                let entries = words[1].elements ?? []
                for entry in entries { self?.hold(entry, service) }
                // A courier with many calls in hand may have left more.
                if entries.count >= ServiceDispatcher.takeOverCount { self?.takeOverMs = Int.min }
            }
        }
    }

    private func hold(_ value: RESPValue, _ service: any OutsideService) {
        guard let call = ServiceCall(value) else { return }
        let id = Array(service.name.utf8) + [0x20] + call.entry
        guard held[id] == nil, !endedMeanwhile.contains(id), !isDraining else { return }
        held[id] = Held(call: call, service: service, giveUpMs: monotonicMs() + ServiceDispatcher.callMs)
        make(id)
    }

    private func make(_ id: [UInt8]) {
        guard let one = held[id] else { return }
        guard let request = one.call.request else {
            return finish(id, one, .failure(.final("the request is no object")))
        }
        held[id]?.attempts += 1
        let deadlineMs = min(monotonicMs() + one.service.tryMs, one.giveUpMs)
        one.service.ask(request, deadlineMs: deadlineMs) { [weak self] in self?.made(id, $0) }
    }

    private func made(_ id: [UInt8], _ result: Result<[UInt8], ServiceFailure>) {
        guard let one = held[id] else { return }
        guard case .failure(let failure) = result, !failure.isFinal else { return finish(id, one, result) }
        let pauseMs = max(failure.retryAfterMs ?? 0, 500 << min(one.attempts, 6))
        let againMs = monotonicMs() + pauseMs
        // While this courier drains, another one takes the call over after a minute.
        if isDraining { return held[id] = nil }
        guard againMs + 1_000 < one.giveUpMs else { return finish(id, one, result) }
        held[id]?.againMs = againMs
    }

    private func finish(_ id: [UInt8], _ one: Held, _ result: Result<[UInt8], ServiceFailure>) {
        var (answer, reason): ([UInt8]?, String) = (nil, "")
        switch result {
        case .success(let text): answer = text
        case .failure(let failure): reason = failure.reason
        }
        let keys = parts.keys
        let call = ScriptCall(
            script: parts.scripts.finish,
            keys: [keys.calls(of: one.service.name), answersTo, keys.callsDead(of: one.service.name)],
            arguments: [one.call.entry, one.call.arguments(answer: answer), Array(reason.utf8)])
        link.run(call, lane: nil) { [weak self] ended in
            guard let self else { return }
            // If ending it failed, another courier or this one takes the call over after a minute.
            held[id] = nil
            if isClaiming { endedMeanwhile.insert(id) }
            guard case .success(let value) = ended, value.integer == 1 else { return }
            if answer == nil { counts.given += 1 } else { counts.called += 1 }
            if answer == nil {
                parts.log.write(.error, "a call was given up", [("service", one.service.name), ("reason", reason)])
            }
        }
    }
}
