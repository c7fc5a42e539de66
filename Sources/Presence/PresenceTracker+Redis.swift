public import Core
import Dialects
import EventLogs
import Operations
import Reactors
import Rights
import Topics

/// A shard's input about presence: changes on the topics' channels, whole sets after a loss, and the nodes that live.
extension PresenceTracker {
    /// A presence change arrived on a topic's channel.
    public func received(_ topic: Topic, _ news: PresenceUpdate) {
        guard let place = places[topic] else { return }
        for member in news.here { nodes.heard(Array(member.id.node), nowMs: nowMs) }
        place.room.received(news)
        wake(place)
    }

    /// A topic's channel is confirmed, perhaps not for the first time: earlier changes may have been missed.
    public func confirmed(_ topic: Topic) {
        guard let place = places[topic] else { return }
        place.isListening = true
        place.room.lost()
        wake(place)
    }

    /// Channels, or messages to this shard, were lost.
    public func lost() {
        for place in places.values {
            place.isListening = false
            place.room.lost()
        }
    }

    /// One topic's messages were lost.
    public func lost(_ topic: Topic) {
        guard let place = places[topic] else { return }
        place.isListening = false
        place.room.lost()
    }

    func read(_ place: PresencePlace, _ payer: Payer?) {
        place.room.beginReading()
        place.reading += 1
        // However often messages are lost, the set is not read more often than changes are sent.
        place.readAtMs = nowMs + limits.presenceDiffMs
        let reading = place.reading
        let failed = { [self] in
            guard place.reading == reading else { return }
            place.room.lost()
            place.readAtMs = nowMs + PresenceTracker.retryMs
            wake(place)
        }
        statistics.presenceReads.add(1)
        scheduler.addOwn(weightUs: store.readUs(limits.presenceMembersMax), refuse: { _ in failed() }) { [self] over in
            store.read(place.topic) { [self] result in
                over()
                guard case .success(let found) = result else { return failed() }
                if let payer { scheduler.budgets.charge(payer, us: store.readUs(found.members.count), nowMs: nowMs) }
                guard place.reading == reading else { return }
                let names = Set(found.members.map { Array($0.id.node) })
                if names.allSatisfy({ nodes.isAlive($0, nowMs: nowMs) }) { return take(found, place, reading) }
                // Some members' nodes may be gone: only an answer to a question asked from now on shows it.
                beat { [self] in take(found, place, reading) }
            }
        }
    }

    private func take(_ found: PresenceStore.Room, _ place: PresencePlace, _ reading: Int) {
        guard place.reading == reading, places[place.topic] === place else { return }
        place.room.read(found.version, found.members)
        dropGone(place)
        if place.room.isKnown, !place.hasTold {
            place.hasTold = true
            place.room.beginTelling()
            place.forgetText()
            for watcher in place.watchers.values {
                watcher.listener.sendPresenceState(place.topic, place.text(watcher.listener.encoding))
            }
        }
        wake(place)
    }

    // MARK: Live nodes

    /// Reports that this node lives, and asks which others do; `answered` is called after a question asked from now on.
    func beat(_ answered: (() -> Void)? = nil) {
        if let answered { waiting.append(answered) }
        guard !isBeating else { return }
        isBeating = true
        beatAtMs = nowMs + limits.presenceBeatMs
        let served = waiting
        waiting = []
        store.nodes { [self] result in
            isBeating = false
            switch result {
            case .success(let ages):
                nodes.answered(ages, nowMs: nowMs)
                for place in places.values {
                    dropGone(place)
                    if place.room.wantsToSend || place.room.hasUntold { wake(place) }
                }
            case .failure: nodes.failed()
            }
            for one in served { one() }
            if !waiting.isEmpty { beat() }
        }
    }

    private func dropGone(_ place: PresencePlace) {
        let gone = place.room.nodes.filter { $0 != node && nodes.isGone($0, nowMs: nowMs) }
        guard !gone.isEmpty else { return }
        place.room.drop(Set(gone))
        wake(place)
    }

    /// Continues pending work; called four times a second.
    public func sweep() {
        guard !places.isEmpty else { return }
        if nowMs >= beatAtMs, !isBeating, store.isReady { beat() }
        for place in places.values {
            if !place.asking.isEmpty { expire(place) }
            if let expected = place.expected, nowMs >= expected.byMs {
                place.expected = nil
                if place.room.isBehind(expected.version) { place.room.lost() }
            }
            let isDue = place.room.standing == .unknown || place.room.wantsToSend || nowMs >= place.renewAtMs
            if isDue { wake(place) }
        }
    }
}
