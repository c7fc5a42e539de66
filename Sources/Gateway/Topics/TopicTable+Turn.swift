import Core
import Dialects
import Reactors
import Transport

/// How events reach the members: what has come of a topic goes to each of them at once.
///
/// Looking up a member, its queue and its place in the loop costs more than an event's bytes, and under load a turn of
/// the loop brings many events; a member is visited once for all of them. The members of a small topic are visited at
/// the end of the turn. Those of a large one have their turn in laps, a slice of them in each tick, so that nobody else
/// waits for thousands of writes, and whoever's turn it is gets what has come up to then. Whatever is told to members
/// in between hands over first what has come (``hand(_:)``).
extension TopicTable {
    /// Takes an event for the members; whoever brings it hands it over, or calls ``endTurn()``.
    func deliver(_ delivery: Delivery, in feed: TopicFeed<Client>) {
        // A lap cannot keep up: it is for the members' own queues to tell who reads too slowly.
        if feed.lap.bytes + FanoutLap.bytes(of: delivery) > limits.outboundBytesMax { hand(feed) }
        statistics.events.add(1)
        feed.lap.append(delivery)
        guard !feed.isQueued else { return }
        feed.isQueued = true
        turn.append(feed)
    }

    /// Hands over what the turn has brought; large topics begin their laps.
    func endTurn() {
        guard !turn.isEmpty else { return }
        for feed in turn {
            if feed.members.count > limits.fanoutSliceMembers {
                laps.append(feed)
            } else {
                feed.isQueued = false
                hand(feed)
            }
        }
        turn.removeAll(keepingCapacity: true)
    }

    /// Whether ``serveSlice()`` has something to do.
    var hasLaps: Bool { !laps.isEmpty }

    /// Gives the next members of a large topic their turn; true when a lap has ended, and the next topic's begins.
    func serveSlice() -> Bool {
        guard let feed = laps.first else { return false }
        // What they are written takes as long as that they are.
        let countMax = max(limits.fanoutSliceBytesMax / max(feed.bytesOfNextTurn, 1), 1)
        let (places, isLast) = feed.lap.next(min(limits.fanoutSliceMembers, countMax), of: feed.members.count)
        serve(feed, places)
        guard isLast else { return false }
        feed.lap.ends()
        _ = laps.popFirst()
        feed.isQueued = !feed.lap.isEmpty
        if feed.isQueued { laps.append(feed) }
        return true
    }

    /// Hands all members what they have not got yet.
    func hand(_ feed: TopicFeed<Client>) {
        guard !feed.lap.isEmpty else { return }
        serve(feed, feed.members.indices)
        feed.lap.removeAll()
    }

    /// Hands the members at some places what they have not got yet.
    func serve(_ feed: TopicFeed<Client>, _ places: Range<Int>) {
        guard !feed.lap.isEmpty else { return }
        var handed = 0
        for place in places.clamped(to: feed.members.indices) {
            let (member, from) = feed.takeTurn(place)
            guard from < feed.lap.end else { continue }
            let batch = feed.lap.batch(from: from, counts: feed.counts)
            if member.ahead != nil {
                handed += handWhatFollows(batch.deliveries, feed, place)
                continue
            }
            handed += batch.deliveries.count
            if batch.deliveries.count == 1, let only = batch.deliveries.first {
                member.client.deliver(only, isOwed: false)
            } else {
                member.client.deliver(batch)
            }
        }
        statistics.deliveries.add(handed)
        feed.ledger.figures.handed += handed
    }

    /// Leaves out what the member's answer had already; returns how many it was handed.
    private func handWhatFollows(_ deliveries: [Delivery], _ feed: TopicFeed<Client>, _ place: Int) -> Int {
        var handed = 0
        for delivery in deliveries {
            let member = feed.members[place]
            if let ahead = member.ahead, let position = delivery.message.position {
                let isBehind = position.epoch == ahead.epoch && position.offset <= ahead.offset
                if !isBehind || position.offset == ahead.offset { feed.caughtUp(place) }
                if isBehind { continue }
            }
            handed += 1
            member.client.deliver(delivery, isOwed: false)
        }
        return handed
    }

    /// Tells the members that the topic goes on from a position that the events before it do not lead to.
    func tellGap(_ feed: TopicFeed<Client>, _ position: Position, _ reason: GapReason) {
        hand(feed)
        statistics.gaps.add(1)
        for member in feed.members {
            if let ahead = member.ahead, ahead.epoch == position.epoch, ahead.offset >= position.offset { continue }
            member.client.send(.gap(topic: feed.topic, position: position, reason: reason), ref: nil)
            feed.ledger.figures.signalled += 1
        }
    }
}
