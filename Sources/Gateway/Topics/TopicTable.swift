import Core
import Dialects
import Reactors
import Transport

/// The topics of one shard: who gets them, and the way of an event from the broker to the members.
///
/// The flow "subscribe" of the design: a first member asks the broker for the channel; once Redis has confirmed it,
/// one read of the log answers all who wait; what came meanwhile follows; then live. Thread: the shard's.
final class TopicTable<Client: TopicClient> {
    let shard: Int
    let limits: Limits
    let store: any TopicReader
    let statistics: ShardStatistics
    let nowMs: () -> Int
    /// Whether holes are repaired; only a test of the tests says no.
    let repairs: Bool
    private let broker: Mailbox<BrokerMessage>
    private(set) var feeds: [Topic: TopicFeed<Client>] = [:]
    /// What feeds counted that are given up, so that an audit can still tell; the oldest are forgotten.
    private var pastLedgers: PastLedgers
    private var emptied: [TopicFeed<Client>] = []
    /// Feeds that clients have asked for, and when; a feed stands here once for each of them.
    private var waiting: [(feed: TopicFeed<Client>, askedMs: Int)] = []
    /// Feeds with events of this turn that are to be handed to their members.
    var turn: [TopicFeed<Client>] = []
    /// Large feeds whose members have their turn.
    var laps = Ring<TopicFeed<Client>>()
    /// Feeds whose repair failed; tried again at the next sweep.
    var stalled: [TopicFeed<Client>] = []
    /// Reads that wait for others to be answered.
    var gate: ReadGate<TopicFeed<Client>>
    /// Whether reads that waited are being asked for.
    var isPassing = false
    private var reads = 0

    /// `nowMs` is the shard's clock, monotonic milliseconds.
    init(
        shard: Int, limits: Limits, repairs: Bool, store: any TopicReader,
        broker: Mailbox<BrokerMessage>, statistics: ShardStatistics,
        nowMs: @escaping () -> Int
    ) {
        self.shard = shard
        self.nowMs = nowMs
        self.repairs = repairs
        self.limits = limits
        pastLedgers = PastLedgers(capacity: limits.pastLedgersMax)
        gate = ReadGate(inFlightMax: limits.logReadsMax)
        self.store = store
        self.broker = broker
        self.statistics = statistics
    }

    /// What this shard knows of a topic.
    func report(_ topic: Topic) -> TopicReport {
        if let feed = feeds[topic] {
            return feed.ledger.report(members: feed.members.count, at: feed.cursor.position)
        }
        return pastLedgers[topic]?.report(members: 0, at: nil) ?? TopicReport()
    }

    /// The last event that members here were given.
    func position(_ topic: Topic) -> Position? { feeds[topic]?.cursor.position }

    /// A number for the next read.
    func newRead() -> Int {
        reads &+= 1
        return reads
    }

    // MARK: Joining and leaving

    /// Whether the read that others wait for would answer a client that joins now.
    func rides(_ topic: Topic) -> Bool {
        // Those who were asked for stand before those who came later.
        !store.isPersonal(topic) && (feeds[topic]?.joining.last.map { !$0.isAsked } ?? false)
    }

    /// Lets a client join, which has paid; it is answered with `subscribed` or refused.
    func join(_ client: Client, _ request: SubscribeRequest, ref: Reference?) {
        let feed: TopicFeed<Client>
        if let known = feeds[request.topic] {
            feed = known
        } else {
            guard broker.send(.want(request.topic, shard: shard)) else {
                return client.refused(
                    Refusal(.unavailable, "the gateway is overloaded; try again"), topic: request.topic, ref: ref)
            }
            feed = TopicFeed(topic: request.topic, ledger: pastLedgers.take(request.topic) ?? TopicLedger())
            feeds[request.topic] = feed
            statistics.topics.set(feeds.count)
        }
        feed.emptySinceMs = nil
        let askedMs = nowMs()
        feed.joining.append(Joining(client: client, since: request.since, ref: ref, askedMs: askedMs))
        client.joins(feed)
        waiting.append((feed, askedMs))
        answerJoining(feed)
    }

    /// Takes a client out of a topic, live or joining.
    func leave(_ client: Client, _ feed: TopicFeed<Client>, place: Int?) {
        if let place {
            // Who leaves, and who takes the place, would miss their turn.
            serve(feed, place..<place + 1)
            serve(feed, feed.members.indices.suffix(1))
            feed.remove(at: place)?.moved(to: place, in: feed)
            statistics.subscriptions.add(-1)
        } else {
            feed.joining.removeAll { $0.client === client }
        }
        leaveIfEmpty(feed)
    }

    func leaveIfEmpty(_ feed: TopicFeed<Client>) {
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
        feed.endJoinRead()
        answerJoining(feed)
    }

    /// The subscription is gone, or messages to this shard were lost: everything is repaired once it is confirmed.
    func lost() {
        for feed in feeds.values {
            feed.isConfirmed = false
            feed.endRepairRead()
            feed.endJoinRead()
        }
        stalled.removeAll()
    }

    /// One topic's subscription is gone: it is repaired once it is confirmed.
    func lost(_ topic: Topic) {
        guard let feed = feeds[topic] else { return }
        feed.isConfirmed = false
        feed.endRepairRead()
        feed.endJoinRead()
        stalled.removeAll { $0 === feed }
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
            feed.ledger.ends(at: feed.cursor.position)
            pastLedgers.keep(feed.ledger, of: feed.topic)
            feeds[feed.topic] = nil
            statistics.topics.set(feeds.count)
            return true
        }
        let patienceMs = limits.redisConnectMs + 2 * limits.redisCallMs
        let expired = Array(waiting.prefix { nowMs - $0.askedMs >= patienceMs })
        waiting.removeFirst(expired.count)
        for (feed, _) in expired { expire(feed, askedUntilMs: nowMs - patienceMs) }
        let again = stalled
        stalled.removeAll()
        for feed in again where feed.isConfirmed {
            if feed.members.isEmpty {
                feed.forget()
            } else if feed.repair?.isDue == true, let after = feed.cursor.position {
                repair(feed, after: after)
            }
        }
    }

    /// Refuses all who have waited too long; they stand in the order in which they asked.
    private func expire(_ feed: TopicFeed<Client>, askedUntilMs: Int) {
        let late = Array(feed.joining.prefix { $0.askedMs <= askedUntilMs })
        guard !late.isEmpty else { return }
        feed.joining.removeFirst(late.count)
        let refusal = Refusal(.unavailable, "the store did not confirm the subscription in time; try again")
        for joining in late { joining.client.refused(refusal, topic: feed.topic, ref: joining.ref) }
        leaveIfEmpty(feed)
    }
}
