import Connections
public import Core
import Dialects
import Operations
import Reactors
import Traces

/// Fan-out: each member receives all events of a topic that arrived in one tick at once.
///
/// Looking up a member, its queue and its place in the loop costs more than an event's bytes. Under load a tick brings
/// many events, so a member is visited once for all of them. Members of a small topic are visited when the tick's
/// messages have been read. Members of a large topic are visited in rounds, a slice in each tick, so that other work
/// does not wait for thousands of writes. Each member then receives everything up to that moment. Any other message to
/// the members first hands over the pending events (``hand(_:)``).
extension TopicTable {
    /// Queues an event for the members; the caller hands it over, or calls ``endTurn()``.
    func deliver(_ delivery: Delivery, in feed: LocalTopic<Client>) {
        // A round cannot keep up: the members' own queues must then detect slow readers.
        if feed.round.bytes + FanoutRound.bytes(of: delivery) > limits.outboundBytesMax { hand(feed) }
        statistics.events.add(1)
        feed.namespace.events.add(1)
        feed.count(delivery.message.data.count, nowMs: nowMs())
        feed.round.append(delivery)
        if timer.isConcerned(statistics.timed.number) { time(delivery, in: feed) }
        guard !feed.isQueued else { return }
        feed.isQueued = true
        pending.append(feed)
    }

    /// Whether events of this tick wait for ``endBatch()``.
    public var hasEvents: Bool { !pending.isEmpty }

    /// Hands over the events of the tick; large topics begin their rounds.
    public func endBatch() {
        for feed in pending {
            if feed.members.count > limits.fanoutSliceMembers {
                rounds.append(feed)
            } else {
                feed.isQueued = false
                hand(feed)
            }
        }
        pending.removeAll(keepingCapacity: true)
    }

    /// Whether ``serveSlice()`` has work.
    public var hasRounds: Bool { !rounds.isEmpty }

    /// The topic that ``serveSlice()`` serves next, and its members.
    public var served: (topic: Topic, members: Int)? { rounds.first.map { ($0.topic, $0.members.count) } }

    /// Serves the next members of a large topic; true when a round has ended, and the next topic's begins.
    public func serveSlice() -> Bool {
        guard let feed = rounds.first else { return false }
        // Writing many bytes takes as long as visiting many members.
        let countMax = max(limits.fanoutSliceBytesMax / max(feed.bytesOfNextBatch, 1), 1)
        let (places, isLast) = feed.round.next(min(limits.fanoutSliceMembers, countMax), of: feed.members.count)
        if !feed.round.isEmpty { serve(feed, places) }
        guard isLast else { return false }
        feed.round.ends()
        _ = rounds.popFirst()
        feed.isQueued = !feed.round.isEmpty
        if feed.isQueued { rounds.append(feed) }
        return true
    }

    /// Hands all members the events that they have not received.
    func hand(_ feed: LocalTopic<Client>) {
        guard !feed.round.isEmpty else { return }
        serve(feed, feed.members.indices)
        feed.round.removeAll()
    }

    /// Hands the members at some places the events that they have not received; each place has a member.
    func serve(_ feed: LocalTopic<Client>, _ places: Range<Int>) {
        var handed = 0
        for place in places {
            let (member, from) = feed.advance(place)
            guard from < feed.round.end else { continue }
            let batch = feed.round.batch(from: from, counts: feed.counts)
            if member.ahead != nil {
                handed += handWhatFollows(batch.deliveries, feed, place)
                continue
            }
            handed += batch.deliveries.count
            if batch.deliveries.count == 1, let only = batch.deliveries.first {
                member.client.deliver(only, isBacklog: false)
            } else {
                member.client.deliver(batch)
            }
        }
        statistics.deliveries.add(handed)
        feed.namespace.deliveries.add(handed)
        feed.ledger.figures.handed += handed
    }

    /// Looks whether an event is one that is being timed; it stays out of the usual way.
    @inline(never)
    private func time(_ delivery: Delivery, in feed: LocalTopic<Client>) {
        timer.look(at: statistics.timed, nowUs: nowMs() * 1_000) { topic in
            feeds[topic].flatMap { $0.members.isEmpty ? nil : $0 }
        }
        timer.came(delivery.message, feed, number: feed.round.end - 1)
    }

    /// The end of a tick, after all writes: counts how long timed events took, once the last member has them.
    public func endTick() {
        guard timer.isHanding else { return }
        timer.ended(
            nowUs: Clock.monotonicUs(), isHanded: { feed, number in feed.round.base > number },
            record: { statistics.deliveryLatency.record(us: $0) })
    }

    /// Skips events that the member's answer contained; returns how many it was handed.
    private func handWhatFollows(_ deliveries: [Delivery], _ feed: LocalTopic<Client>, _ place: Int) -> Int {
        var handed = 0
        for delivery in deliveries {
            let member = feed.members[place]
            if let ahead = member.ahead, let position = delivery.message.position {
                let isBehind = position.epoch == ahead.epoch && position.offset <= ahead.offset
                if !isBehind || position.offset == ahead.offset { feed.caughtUp(place) }
                if isBehind { continue }
            }
            handed += 1
            member.client.deliver(delivery, isBacklog: false)
        }
        return handed
    }

    /// Sends the members a `gap`: the topic continues from a position that does not follow the last event, `reached`.
    func tellGap(_ feed: LocalTopic<Client>, _ position: Position, _ reason: GapReason, after reached: Position?) {
        hand(feed)
        statistics.gaps.add(1)
        trace.gap(feed.topic, from: reached, to: position, isReset: reason == .reset)
        for member in feed.members {
            if let ahead = member.ahead, ahead.epoch == position.epoch, ahead.offset >= position.offset { continue }
            member.client.send(.gap(topic: feed.topic, position: position, reason: reason), ref: nil)
            feed.ledger.figures.signalled += 1
        }
    }
}
