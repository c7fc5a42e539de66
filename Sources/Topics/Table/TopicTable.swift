import Connections
public import Core
public import Dialects
public import Operations
import Reactors
public import Traces

/// The topics of one shard: their members, and the way of an event from the subscription to the members.
///
/// A first member makes the shard subscribe to the channel. Once Redis has confirmed it, one read of the log answers all waiting
/// clients. Events received meanwhile follow, and the clients are live. Thread: the shard's.
public final class TopicTable<Client: TopicClient> {
    let limits: Limits
    let store: any TopicReader
    let statistics: ShardStatistics
    /// The record of what becomes of sessions.
    public let trace: SessionTrace
    let nowMs: () -> Int
    private let channels: any ChannelInterest
    private(set) var feeds: [Topic: LocalTopic<Client>] = [:]
    /// The topics in no particular order, for walks over all.
    private var list: [LocalTopic<Client>] = []
    /// The counts of topics that were given up, for audits; the oldest are dropped.
    private var pastLedgers: PastLedgers
    private var emptied: [LocalTopic<Client>] = []
    /// Topics with joining clients, and when they asked; a topic has one entry for each of them.
    private var waiting: [(feed: LocalTopic<Client>, askedMs: Int)] = []
    /// Topics with events of this tick for their members.
    var pending: [LocalTopic<Client>] = []
    /// Large topics with a fan-out round pending or under way.
    var rounds = Ring<LocalTopic<Client>>()
    /// Topics whose repair failed; the next sweep tries them again.
    var stalled: [LocalTopic<Client>] = []
    /// Limits the reads under way.
    var gate: ReadGate<LocalTopic<Client>>
    /// Whether waiting reads are being started.
    var isPassing = false
    private var reads = 0
    var timer = DeliveryTimer<LocalTopic<Client>>()

    /// `nowMs` is the shard's clock, monotonic milliseconds.
    public init(
        limits: Limits, store: any TopicReader, channels: any ChannelInterest, statistics: ShardStatistics,
        trace: SessionTrace, nowMs: @escaping () -> Int
    ) {
        self.nowMs = nowMs
        self.trace = trace
        self.limits = limits
        pastLedgers = PastLedgers(capacity: limits.pastLedgersMax)
        gate = ReadGate(inFlightMax: limits.logReadsMax)
        self.store = store
        self.channels = channels
        self.statistics = statistics
    }

    /// Counts of a topic on this shard.
    public func report(_ topic: Topic) -> TopicReport {
        if let feed = feeds[topic] {
            return feed.ledger.report(members: feed.members.count, at: feed.cursor.position)
        }
        return pastLedgers[topic]?.report(members: 0, at: nil) ?? TopicReport()
    }

    /// The position of the last event that members here received.
    public func position(_ topic: Topic) -> Position? { feeds[topic]?.cursor.position }

    /// The number of topics: the place at which a walk over all begins.
    public var end: Int { list.count }

    /// Visits at most `count` topics below a place; returns the place at which the walk continues.
    ///
    /// A walk ends at 0. It goes downwards, since the last topic takes the place of one that ends. So none that stays
    /// is left out, and some may be visited twice.
    public func visit(below place: Int, count: Int, _ visit: (LocalTopic<Client>) -> Void) -> Int {
        let from = min(place, list.count)
        let to = max(0, from - count)
        for place in stride(from: from - 1, through: to, by: -1) { visit(list[place]) }
        return to
    }

    /// A number for the next read.
    func newRead() -> Int {
        reads &+= 1
        return reads
    }

    // MARK: Joining and leaving

    /// Whether a read that others wait for would also answer a client that joins now.
    public func isCoalesced(_ topic: Topic) -> Bool {
        // Clients that a read was made for stand before later ones.
        !store.isPersonal(topic) && (feeds[topic]?.joining.last.map { !$0.isAsked } ?? false)
    }

    /// Lets a client join, for which the budget was charged; it is answered with `subscribed` or refused.
    public func join(_ client: Client, _ request: SubscribeRequest, ref: Reference?) {
        let feed: LocalTopic<Client>
        if let known = feeds[request.topic] {
            feed = known
        } else {
            feed = LocalTopic(
                topic: request.topic, ledger: pastLedgers.take(request.topic) ?? TopicLedger(),
                namespace: statistics.namespaces.counts(of: request.topic))
            feed.isConfirmed = channels.want(request.topic)
            feeds[request.topic] = feed
            feed.listPlace = list.count
            list.append(feed)
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
    public func leave(_ client: Client, _ feed: LocalTopic<Client>, place: Int?) {
        if let place {
            // The leaving member and the one that takes its place would miss their turn.
            serve(feed, place..<place + 1)
            serve(feed, feed.members.indices.suffix(1))
            feed.remove(at: place)?.moved(to: place, in: feed)
            statistics.subscriptions.add(-1)
        } else {
            feed.joining.removeAll { $0.client === client }
        }
        leaveIfEmpty(feed)
    }

    func leaveIfEmpty(_ feed: LocalTopic<Client>) {
        guard feed.isEmpty, feed.emptySinceMs == nil else { return }
        feed.emptySinceMs = nowMs()
        emptied.append(feed)
    }

    // MARK: The channel

    /// Redis has confirmed the channel, for the first time or again.
    ///
    /// A second confirmation means that the channel was given up and subscribed again in between, so it is repaired
    /// like a lost one.
    public func confirmed(_ topic: Topic) {
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

    /// The subscription is lost: every topic is repaired once it is confirmed.
    public func lost() {
        for feed in feeds.values {
            feed.isConfirmed = false
            feed.endRepairRead()
            feed.endJoinRead()
        }
        stalled.removeAll()
    }

    /// The subscription of one topic is lost: the topic is repaired once it is confirmed.
    public func lost(_ topic: Topic) {
        guard let feed = feeds[topic] else { return }
        feed.isConfirmed = false
        feed.endRepairRead()
        feed.endJoinRead()
        stalled.removeAll { $0 === feed }
    }

    // MARK: Time

    /// Gives up channels without members, refuses joins that took too long, and retries failed repairs.
    public func sweep() {
        let nowMs = nowMs()
        emptied.removeAll { feed in
            // A topic may have been emptied more than once, or have been given up already.
            guard feeds[feed.topic] === feed, feed.isEmpty, let since = feed.emptySinceMs else { return true }
            guard nowMs - since >= limits.topicLingerMs else { return false }
            channels.unwant(feed.topic)
            feed.ledger.ends(at: feed.cursor.position)
            pastLedgers.keep(feed.ledger, of: feed.topic)
            feeds[feed.topic] = nil
            unlist(feed)
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

    private func unlist(_ feed: LocalTopic<Client>) {
        guard let last = list.popLast(), last !== feed else { return }
        list[feed.listPlace] = last
        last.listPlace = feed.listPlace
    }

    /// Refuses all clients that have waited too long; they stand in the order in which they asked.
    private func expire(_ feed: LocalTopic<Client>, askedUntilMs: Int) {
        let late = Array(feed.joining.prefix { $0.askedMs <= askedUntilMs })
        guard !late.isEmpty else { return }
        feed.joining.removeFirst(late.count)
        let refusal = Refusal(.unavailable, "the store did not confirm the subscription in time; try again")
        for joining in late { joining.client.refused(refusal, topic: feed.topic, ref: joining.ref) }
        leaveIfEmpty(feed)
    }
}
