import Core
import Dialects
import Reactors
import Transport

/// The topics of one shard: who gets them, and the way of an event from the broker to the members.
///
/// The flow "subscribe" of the design: a first member asks the broker for the channel; once Redis has confirmed it,
/// the subscribe script answers with position, missed events and state; what came meanwhile follows; then live.
/// Thread: the shard's.
final class TopicTable<Client: TopicClient> {
    private let shard: Int
    private let limits: Limits
    private let heldMax: Int
    private let store: any TopicReader
    private let broker: Mailbox<BrokerMessage>
    private let dialects: [any Dialect]
    private let statistics: ShardStatistics
    private let nowMs: () -> Int
    private var feeds: [Topic: TopicFeed<Client>] = [:]
    private var emptied: [TopicFeed<Client>] = []
    private var waiting: [(feed: TopicFeed<Client>, client: Client, askedMs: Int)] = []
    private var stalled: [TopicFeed<Client>] = []
    private var calls = 0

    /// `heldMax` events are kept during a repair or a join; `nowMs` is the shard's clock, monotonic milliseconds.
    init(
        shard: Int, limits: Limits, heldMax: Int, store: any TopicReader, broker: Mailbox<BrokerMessage>,
        dialects: [any Dialect], statistics: ShardStatistics, nowMs: @escaping () -> Int
    ) {
        self.shard = shard
        self.nowMs = nowMs
        self.heldMax = heldMax
        self.limits = limits
        self.store = store
        self.broker = broker
        self.dialects = dialects
        self.statistics = statistics
    }

    /// Live members of a topic here.
    func memberCount(_ topic: Topic) -> Int { feeds[topic]?.members.count ?? 0 }

    // MARK: Joining and leaving

    /// Lets a client join; it is answered with `subscribed` or refused.
    func join(_ client: Client, _ request: SubscribeRequest, ref: Reference?) {
        let feed: TopicFeed<Client>
        if let known = feeds[request.topic] {
            feed = known
        } else {
            feed = TopicFeed(topic: request.topic)
            guard broker.send(.want(request.topic, shard: shard)) else {
                return client.refused(
                    Refusal(.unavailable, "the gateway is overloaded; try again"), topic: request.topic, ref: ref)
            }
            feeds[request.topic] = feed
            statistics.topics.set(feeds.count)
        }
        feed.emptySinceMs = nil
        let askedMs = nowMs()
        feed.joining.append(Joining(client: client, since: request.since, ref: ref, askedMs: askedMs))
        client.joins(feed)
        waiting.append((feed, client, askedMs))
        if feed.isConfirmed { ask(feed, feed.joining.count - 1) }
    }

    /// Takes a client out of a topic, live or joining.
    func leave(_ client: Client, _ feed: TopicFeed<Client>, place: Int?) {
        if let place {
            feed.remove(at: place)?.moved(to: place, in: feed)
            statistics.subscriptions.add(-1)
        } else {
            feed.joining.removeAll { $0.client === client }
        }
        if feed.isEmpty && feed.emptySinceMs == nil {
            feed.emptySinceMs = nowMs()
            emptied.append(feed)
        }
    }

    private func ask(_ feed: TopicFeed<Client>, _ index: Int) {
        calls &+= 1
        let call = calls
        feed.joining[index].call = call
        feed.joining[index].held = []
        store.subscribe(feed.topic, since: feed.joining[index].since) { [unowned self, feed] result in
            answered(feed, call: call, result)
        }
    }

    private func answered(_ feed: TopicFeed<Client>, call: Int, _ result: Result<Store.Answer, Refusal>) {
        guard let index = feed.joining.firstIndex(where: { $0.call == call }) else { return }
        let joining = feed.joining[index]
        switch result {
        case .failure(let refusal):
            feed.joining.remove(at: index)
            joining.client.refused(refusal, topic: feed.topic, ref: joining.ref)
            leaveIfEmpty(feed)
        case .success(let answer):
            let meaning = feed.cursor.joined(at: answer.position)
            guard meaning != .stale else { return ask(feed, index) }
            if case .reset(let start) = meaning {
                tellGap(feed, start, .reset)
                repair(feed, after: start)
            }
            feed.joining.remove(at: index)
            let reached = admit(joining, to: feed, answer)
            if meaning == .adopted { feed.cursor.repaired(to: reached) }
            let isAhead = feed.cursor.position.map { $0.epoch == reached.epoch && $0.offset < reached.offset } ?? false
            let place = feed.add(joining.client, ahead: isAhead ? reached : nil)
            joining.client.joined(feed, place: place)
            statistics.subscriptions.add(1)
            // What came during the first join went past a feed without a position: it is looked at now.
            guard meaning == .adopted else { return }
            for delivery in joining.held where delivery.message.position != nil { process(delivery, in: feed) }
        }
    }

    /// Sends the answer, what was missed, and what came meanwhile as far as it follows without a hole.
    private func admit(_ joining: Joining<Client>, to feed: TopicFeed<Client>, _ answer: Store.Answer) -> Position {
        let client = joining.client
        client.send(
            .subscribed(
                topic: feed.topic, position: answer.position, recovered: answer.recovered, state: answer.state),
            ref: joining.ref)
        for message in answer.events {
            client.deliver(
                Delivery(topic: feed.topic, message: message, variants: dialects.count, counts: feed.counts),
                isOwed: true)
        }
        statistics.recovered.add(answer.events.count)
        var reached = answer.position
        for delivery in joining.held {
            guard JoinMerge.follows(delivery.message.position, reached) else { continue }
            if let position = delivery.message.position {
                guard position.offset == reached.offset + 1 else { break }
                reached = position
            }
            client.deliver(delivery, isOwed: false)
        }
        return reached
    }

    private func leaveIfEmpty(_ feed: TopicFeed<Client>) {
        guard feed.isEmpty, feed.emptySinceMs == nil else { return }
        feed.emptySinceMs = nowMs()
        emptied.append(feed)
    }

    // MARK: The channel

    /// Redis has confirmed the channel, for the first time or again.
    ///
    /// A second confirmation means that the channel was given up and taken again in between, so it is repaired like a
    /// lost one.
    func confirmed(_ topic: Topic) {
        guard let feed = feeds[topic] else { return }
        feed.isConfirmed = true
        if feed.members.isEmpty {
            feed.forget()
        } else if let after = feed.cursor.doubted() {
            repair(feed, after: after)
        }
        for index in feed.joining.indices { ask(feed, index) }
    }

    /// The subscription is gone, or messages to this shard were lost: everything is repaired once it is confirmed.
    func lost() {
        for feed in feeds.values {
            feed.isConfirmed = false
            feed.endRepair()
            for index in feed.joining.indices {
                feed.joining[index].call = 0
                feed.joining[index].held = []
            }
        }
        stalled.removeAll()
    }

    /// An event came on the channel.
    func received(_ topic: Topic, _ message: ChannelMessage) {
        guard let feed = feeds[topic] else { return }
        let delivery = Delivery(topic: topic, message: message, variants: dialects.count, counts: feed.counts)
        hold(delivery, forJoining: feed)
        process(delivery, in: feed)
    }

    private func hold(_ delivery: Delivery, forJoining feed: TopicFeed<Client>) {
        for index in feed.joining.indices where feed.joining[index].call != 0 {
            if feed.joining[index].held.count >= heldMax {
                ask(feed, index)
            } else {
                feed.joining[index].held.append(delivery)
            }
        }
    }

    private func process(_ delivery: Delivery, in feed: TopicFeed<Client>) {
        guard let position = delivery.message.position else { return deliver(delivery, in: feed) }
        switch feed.cursor.received(position) {
        case .deliver:
            deliver(delivery, in: feed)
        case .ignore:
            break
        case .hold:
            // Beyond the bound the rest is dropped and fetched by another repair after this one.
            if feed.held.count < heldMax { feed.held.append(delivery) } else { feed.hasDropped = true }
        case .repair(let after):
            feed.held.append(delivery)
            repair(feed, after: after)
        }
    }

    private func deliver(_ delivery: Delivery, in feed: TopicFeed<Client>) {
        statistics.events.add(1)
        statistics.deliveries.add(feed.members.count)
        delivery.isBulk = feed.members.count > limits.fanoutSliceMembers
        guard feed.aheadCount > 0 else {
            for member in feed.members { member.client.deliver(delivery, isOwed: false) }
            return
        }
        for index in feed.members.indices {
            if let ahead = feed.members[index].ahead, let position = delivery.message.position {
                let isBehind = position.epoch == ahead.epoch && position.offset <= ahead.offset
                if !isBehind || position.offset == ahead.offset { feed.caughtUp(index) }
                if isBehind { continue }
            }
            feed.members[index].client.deliver(delivery, isOwed: false)
        }
    }

    private func tellGap(_ feed: TopicFeed<Client>, _ position: Position, _ reason: GapReason) {
        statistics.gaps.add(1)
        for member in feed.members {
            if let ahead = member.ahead, ahead.epoch == position.epoch, ahead.offset >= position.offset { continue }
            member.client.send(.gap(topic: feed.topic, position: position, reason: reason), ref: nil)
        }
    }

    // MARK: Repair

    private func repair(_ feed: TopicFeed<Client>, after position: Position) {
        calls &+= 1
        let call = calls
        feed.repairCall = call
        feed.heldBeforeCall = feed.held.count
        feed.hasDropped = false
        store.subscribe(feed.topic, since: position) { [unowned self, feed] result in
            guard feed.repairCall == call else { return }
            switch result {
            case .failure: stalled.append(feed)
            case .success(let answer): repaired(feed, answer)
            }
        }
    }

    private func repaired(_ feed: TopicFeed<Client>, _ answer: Store.Answer) {
        feed.repairCall = 0
        if let current = feed.cursor.position, current.epoch != answer.position.epoch,
            let start = feed.cursor.reset(to: answer.position.epoch)
        {
            tellGap(feed, start, .reset)
            return repair(feed, after: start)
        }
        for message in answer.events {
            deliver(
                Delivery(topic: feed.topic, message: message, variants: dialects.count, counts: feed.counts), in: feed)
        }
        statistics.repaired.add(answer.events.count)
        feed.cursor.repaired(to: answer.position)
        if !answer.recovered { tellGap(feed, answer.position, .missed) }
        let (held, before, hasDropped) = (feed.held, feed.heldBeforeCall, feed.hasDropped)
        feed.endRepair()
        for (index, delivery) in held.enumerated() {
            // The log was read after the event came and is of another epoch: the event's is over.
            if index < before, delivery.message.position?.epoch != answer.position.epoch { continue }
            process(delivery, in: feed)
        }
        if hasDropped, !feed.cursor.isRepairing, let after = feed.cursor.doubted() { repair(feed, after: after) }
    }

    // MARK: Time

    /// Gives up channels nobody wants any more, refuses joins that took too long, tries failed repairs again.
    func sweep() {
        let nowMs = nowMs()
        emptied.removeAll { feed in
            // A feed may have been emptied more than once, or have been given up already.
            guard feeds[feed.topic] === feed, feed.isEmpty, let since = feed.emptySinceMs else { return true }
            guard nowMs - since >= limits.topicLingerMs, broker.send(.unwant(feed.topic, shard: shard)) else {
                return false
            }
            feeds[feed.topic] = nil
            statistics.topics.set(feeds.count)
            return true
        }
        let patienceMs = limits.redisConnectMs + 2 * limits.redisCommandMs
        let expired = waiting.prefix { nowMs - $0.askedMs >= patienceMs }
        waiting.removeFirst(expired.count)
        for join in expired { expire(join.feed, join.client, join.askedMs) }
        let again = stalled
        stalled.removeAll()
        for feed in again where feed.isConfirmed {
            if feed.members.isEmpty {
                feed.forget()
            } else if feed.cursor.isRepairing, let after = feed.cursor.position {
                repair(feed, after: after)
            }
        }
    }

    private func expire(_ feed: TopicFeed<Client>, _ client: Client, _ askedMs: Int) {
        guard let index = feed.joining.firstIndex(where: { $0.client === client && $0.askedMs == askedMs }) else {
            return
        }
        let joining = feed.joining.remove(at: index)
        let refusal = Refusal(.unavailable, "the store did not confirm the subscription in time; try again")
        client.refused(refusal, topic: feed.topic, ref: joining.ref)
        leaveIfEmpty(feed)
    }
}
