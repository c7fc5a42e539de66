import Connections
public import Core
public import Dialects
public import EventLogs
public import Operations
public import Reactors
public import Rights
public import Topics

/// Presence for the sessions of one shard (docs/archive/decisions.md, D58).
///
/// A topic has a ``PresencePlace`` while a session watches it or is listed there. Changes of own clients are sent to
/// Redis, and changes from Redis to own clients, each at most every `presenceDiffMs`. The first change is sent at once.
/// A crowd of new members therefore costs Redis and each client a few messages, not one for each member. Thread: the
/// shard's.
public final class PresenceTracker {
    /// The presence in Redis, for reads of callers over HTTP.
    public let store: PresenceStore
    let scheduler: ReadScheduler
    let limits: Limits
    let statistics: ShardStatistics
    let node: [UInt8]
    private let shard: Int
    private let reactor: Reactor
    private var timer: ReactorTimer?
    private(set) var places: [Topic: PresencePlace] = [:]
    /// Topics with work to do, now or soon.
    private var pending: Set<Topic> = []
    private var timerMs = Int.max
    var nodes: PresenceNodes
    var isBeating = false
    var beatAtMs = 0
    /// Callbacks that wait for the answer to the next question which nodes live.
    var waiting: [() -> Void] = []
    private var number = 0
    private var isEnding = false
    /// Presence changes are no events of the topics' logs: they are not counted there.
    private let counts = OutboundCounts()

    private static let full = Refusal(.tooLarge, "as many are listed on this topic as may be")
    private static let crowded = Refusal(.tooLarge, "you are listed on this topic as often as one user may be")
    private static let away = Refusal(.unavailable, "the store cannot be reached", retryAfterMs: retryMs)
    private static let renewMs = 60_000
    static let retryMs = 1_000
    /// Maximum entries of one message.
    private static let toldAtOnce = 256

    /// A tracker without entries; the entries that it writes name `origin`.
    public init(
        _ reactor: Reactor, _ store: PresenceStore, _ scheduler: ReadScheduler, _ limits: Limits,
        _ statistics: ShardStatistics, _ origin: PresenceStore.Origin
    ) throws(Errno) {
        self.reactor = reactor
        self.store = store
        self.scheduler = scheduler
        self.limits = limits
        self.statistics = statistics
        node = origin.node
        shard = origin.shard
        nodes = PresenceNodes(silenceMs: limits.presenceNodeMs)
        timer = try ReactorTimer(reactor) { [unowned self] in serve() }
    }

    var nowMs: Int { reactor.nowMs }

    // MARK: Sessions

    /// Sends a live session the members present, now or once they are known, and every change from then on.
    public func watch(_ listener: any PresenceListener, _ topic: Topic, payer: Payer) {
        let place = place(topic, payer)
        guard place.watchers[ObjectIdentifier(listener)] == nil else { return }
        place.watchers[ObjectIdentifier(listener)] = PresencePlace.Watcher(listener: listener, since: place.rounds + 1)
        if place.hasTold { listener.sendPresenceState(topic, place.text(listener.encoding)) }
    }

    /// Lists a session, or updates its entry.
    public func track(
        _ listener: any PresenceListener, _ request: TrackRequest, user: [UInt8]?, payer: Payer,
        _ answer: @escaping PresencePlace.Answer
    ) {
        guard store.isReady else { return answer(.failure(PresenceTracker.away)) }
        let place = place(request.topic, payer)
        let known = place.tracked[ObjectIdentifier(listener)]
        if known == nil, let user, place.presence.count(of: user) >= limits.presencePerUserMax {
            return answer(.failure(PresenceTracker.crowded))
        }
        let id = known ?? newID()
        let before = place.presence.own[id]
        let key: [UInt8] =
            switch request.key {
            case .given(let key): key
            case .user: user.flatMap { PresenceMember.isKey($0) ? $0 : nil } ?? id.bytes
            case .unique: id.bytes
            }
        place.tracked[ObjectIdentifier(listener)] = id
        if known == nil { statistics.presenceTracked.add(1) }
        if let before, before.key == key, before.user == user, before.meta == request.meta {
            // The entry does not change: the request is answered once the entry is stored.
            if place.presence.here[id] == before { return answer(.success(id)) }
            place.presence.track(before)
        } else {
            place.presence.track(
                PresenceMember(
                    id: id, key: key, user: user, meta: request.meta, revision: (before?.revision ?? 0) + 1))
        }
        place.asking[id, default: []].append(PresencePlace.Asking(sinceMs: nowMs, answer: answer))
        wake(place)
    }

    /// Removes a session's entry.
    public func untrack(_ listener: any PresenceListener, _ topic: Topic, _ answer: @escaping PresencePlace.Answer) {
        guard let place = places[topic], let id = place.tracked.removeValue(forKey: ObjectIdentifier(listener)) else {
            return answer(.failure(Refusal(.conflict, "you are not listed on this topic")))
        }
        statistics.presenceTracked.add(-1)
        place.presence.untrack(id)
        place.asking[id, default: []].append(PresencePlace.Asking(sinceMs: nowMs, answer: answer))
        wake(place)
    }

    /// Removes a session that has left a topic from its watchers, and its entry at once.
    public func left(_ listener: any PresenceListener, _ topic: Topic) {
        guard let place = places[topic] else { return }
        place.watchers[ObjectIdentifier(listener)] = nil
        if let id = place.tracked.removeValue(forKey: ObjectIdentifier(listener)) {
            statistics.presenceTracked.add(-1)
            place.presence.untrack(id)
            wake(place)
        }
        endIfIdle(place)
    }

    private func place(_ topic: Topic, _ payer: Payer) -> PresencePlace {
        if let place = places[topic] { return place }
        let place = PresencePlace(
            topic, node: node, shard: shard, renewAtMs: nowMs + Int.random(in: 1...PresenceTracker.renewMs))
        places[topic] = place
        read(place, payer)
        return place
    }

    /// The node is ending: entries are removed at once, and nothing is delayed.
    public func beginEnding() {
        isEnding = true
    }

    /// Whether all sessions have left, and Redis has stored that.
    public var isEmpty: Bool { places.isEmpty }

    private func newID() -> PresenceID {
        number += 1
        return PresenceID(node: node, shard: shard, number: number)
    }

    private func endIfIdle(_ place: PresencePlace) {
        guard place.isIdle, places[place.topic] === place else { return }
        places[place.topic] = nil
        pending.remove(place.topic)
    }

    // MARK: Scheduling

    /// Schedules work on a place.
    func wake(_ place: PresencePlace) {
        pending.insert(place.topic)
        set(nowMs)
    }

    private func set(_ atMs: Int) {
        guard atMs < timerMs else { return }
        timerMs = atMs
        timer?.set(atMs: atMs)
    }

    private func serve() {
        timerMs = Int.max
        let topics = pending
        pending = []
        var nextMs = Int.max
        for topic in topics {
            guard let place = places[topic] else { continue }
            let dueMs = serve(place)
            if dueMs < Int.max { pending.insert(topic) }
            nextMs = min(nextMs, dueMs)
            endIfIdle(place)
        }
        if nextMs < Int.max { set(nextMs) }
    }

    /// Performs the work that is due on a place; returns when the next is, monotonic milliseconds.
    private func serve(_ place: PresencePlace) -> Int {
        if place.presence.standing == .unknown, place.isListening, nowMs >= place.readAtMs, store.isReady {
            read(place, nil)
        }
        return min(send(place), tell(place))
    }

    private func send(_ place: PresencePlace) -> Int {
        let isRenewal = nowMs >= place.renewAtMs && place.presence.isKnown && !place.presence.wantsToSend
        guard place.presence.wantsToSend || isRenewal, store.isReady else { return Int.max }
        guard nodes.maySpeak(nowMs: nowMs) else {
            // Its answer wakes the places that wait to write. After a failed beat, the next one follows in its time,
            // not at once.
            if !isBeating, nowMs >= beatAtMs { beat() }
            return Int.max
        }
        if isRenewal {
            place.renewAtMs = nowMs + PresenceTracker.renewMs
            store.write(place.topic, TopicPresence.Writing()) { [self] result in
                if case .success(let written) = result { expect(written.version, place) }
            }
            return Int.max
        }
        guard nowMs >= place.sendAtMs || isEnding else { return place.sendAtMs }
        place.sendAtMs = nowMs + limits.presenceDiffMs
        place.renewAtMs = nowMs + PresenceTracker.renewMs
        write(place)
        return Int.max
    }

    private func write(_ place: PresencePlace) {
        let writing = place.presence.takeWriting(max: PresenceStore.membersAtOnce)
        let answers = writing.ids.map { (id: $0, waiting: place.asking.removeValue(forKey: $0) ?? []) }
        statistics.presenceWrites.add(1)
        store.write(place.topic, writing) { [self] result in
            switch result {
            case .success(let written):
                place.presence.wrote(writing, refused: written.refused)
                forget(written.refused, place)
                expect(written.version, place)
                for (id, waiting) in answers {
                    let isRefused = written.refused.contains(id)
                    for one in waiting { one.answer(isRefused ? .failure(PresenceTracker.full) : .success(id)) }
                }
                // Entries beyond one call's limit are written by the next.
                if writing.ids.count == PresenceStore.membersAtOnce { place.sendAtMs = nowMs }
            case .failure(let refusal):
                place.presence.couldNotWrite(writing)
                place.sendAtMs = nowMs + PresenceTracker.retryMs
                fail(answers, refusal, place)
            }
            wake(place)
        }
    }

    /// Answers the requests that wait with an error, since the entries could not be written.
    ///
    /// A new entry is then withdrawn, since its client received the error. An older entry remains.
    private func fail(
        _ answers: [(id: PresenceID, waiting: [PresencePlace.Asking])], _ refusal: Refusal, _ place: PresencePlace
    ) {
        let new = answers.filter { !$0.waiting.isEmpty && place.presence.own[$0.id]?.revision == 1 }.map(\.id)
        for id in new { place.presence.untrack(id) }
        forget(new, place)
        for (_, waiting) in answers { for one in waiting { one.answer(.failure(refusal)) } }
    }

    /// Answers requests that have waited for too long, since nothing can be written.
    func expire(_ place: PresencePlace) {
        let beforeMs = nowMs - limits.redisCallMs - limits.presenceDiffMs
        let late = place.asking.filter { $0.value.contains { $0.sinceMs < beforeMs } }
        guard !late.isEmpty else { return }
        for id in late.keys { place.asking[id] = nil }
        fail(late.map { ($0.key, $0.value) }, PresenceTracker.away, place)
    }

    /// Forgets the sessions of entries.
    private func forget(_ ids: [PresenceID], _ place: PresencePlace) {
        guard !ids.isEmpty else { return }
        let gone = Set(ids)
        let before = place.tracked.count
        place.tracked = place.tracked.filter { !gone.contains($0.value) }
        statistics.presenceTracked.add(place.tracked.count - before)
    }

    private func expect(_ version: Position?, _ place: PresencePlace) {
        guard place.presence.isBehind(version) else { return }
        place.expected = (version, nowMs + 2 * PresenceTracker.retryMs)
    }

    // MARK: Sending

    private func tell(_ place: PresencePlace) -> Int {
        if place.round == nil, place.hasTold, place.presence.hasUntold {
            guard nowMs >= place.tellAtMs else { return place.tellAtMs }
            place.tellAtMs = nowMs + limits.presenceDiffMs
            beginRound(place)
        }
        guard var round = place.round else { return Int.max }
        for watcher in round.watchers.suffix(round.slice) {
            guard let current = place.watchers[ObjectIdentifier(watcher.listener)], current.since <= round.number else {
                continue
            }
            for delivery in round.deliveries { watcher.listener.deliver(delivery, isBacklog: false) }
        }
        round.watchers.removeLast(min(round.slice, round.watchers.count))
        place.round = round.watchers.isEmpty ? nil : round
        if place.round != nil { return nowMs }
        return place.presence.hasUntold ? place.tellAtMs : Int.max
    }

    private func beginRound(_ place: PresencePlace) {
        var deliveries: [Delivery] = []
        var bytes = 0
        while place.presence.hasUntold {
            let change = place.presence.takeChange(max: PresenceTracker.toldAtOnce)
            guard !change.isEmpty else { continue }
            bytes += change.bytes
            deliveries.append(Delivery(topic: place.topic, change: change, counts: counts))
        }
        guard !deliveries.isEmpty else { return }
        place.forgetText()
        place.rounds += 1
        statistics.presenceChanges.add(1)
        let slice = min(limits.fanoutSliceMembers, max(1, limits.fanoutSliceBytesMax / bytes))
        place.round = PresencePlace.Round(
            number: place.rounds, deliveries: deliveries, watchers: Array(place.watchers.values), slice: slice)
    }
}

@available(*, unavailable)
extension PresenceTracker: Sendable {}
