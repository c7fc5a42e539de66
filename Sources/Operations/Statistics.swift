public import Connections
public import Reactors
import RedisLink

/// Counters of one shard, which its rooms share.
///
/// Thread: written by the shard's, readable by any.
public final class ShardStatistics: Sendable {
    /// Open sessions.
    public let sessions = Counter()
    /// Live subscriptions.
    public let subscriptions = Counter()
    /// Topics with members, or lingering.
    public let topics = Counter()
    /// Messages on the channels of this shard's topics.
    public let channelMessages = Counter()
    /// Of them, malformed ones, which were dropped.
    public let channelMessagesRefused = Counter()
    /// Events received from Redis for topics of this shard.
    public let events = Counter()
    /// Events written for clients, once for each encoding that members wanted.
    public let encodings = Counter()
    /// Events and answers that were deflated, once for all receivers.
    public let deflated = Counter()
    /// Bytes of them before deflation.
    public let deflateBytesIn = Counter()
    /// Bytes of them after deflation.
    public let deflateBytesOut = Counter()
    /// Messages of clients that were inflated.
    public let inflated = Counter()
    /// Bytes of them before inflation.
    public let inflateBytesIn = Counter()
    /// Bytes of them after inflation.
    public let inflateBytesOut = Counter()
    /// Events handed to members.
    public let deliveries = Counter()
    /// Events sent to reconnecting clients from the log.
    public let recovered = Counter()
    /// Events fetched from the log to close a hole.
    public let repaired = Counter()
    /// Gaps reported, other than those of conflation.
    public let gaps = Counter()
    /// Gaps in the queues of clients that read too slowly, where their namespace wants it so.
    public let conflationGaps = Counter()
    /// Messages of clients.
    public let messagesIn = Counter()
    /// Sessions whose clients poll.
    public let pollingSessions = Counter()
    /// Polls passed to the session's shard.
    public let pollsHandedOver = Counter()
    /// Connections passed to the shard of their session.
    public let connectionsMoved = Counter()
    /// Polls relayed to another node, which owns their session.
    public let relay = Counter()
    /// Of them, those that wait for an answer.
    public let relaysWaiting = Counter()
    /// Polls relayed by other nodes.
    public let relaysTaken = Counter()
    /// Polls whose relay failed.
    public let relaysFailed = Counter()
    /// Relayed messages that are forged, repeated or out of order.
    public let relaysRefused = Counter()
    /// Questions over all nodes to which every node has answered.
    public let fleetWhole = Counter()
    /// Questions over all nodes of whose answers something is missing.
    public let fleetPartial = Counter()
    /// Callers that got the answer to another's question over all nodes.
    public let fleetShared = Counter()
    /// Questions over all nodes that were refused to callers.
    public let fleetRefused = Counter()
    /// Questions of other nodes that were refused.
    public let fleetDeclined = Counter()
    /// HTTP requests answered.
    public let requests = Counter()
    /// Publishes committed over HTTP.
    public let httpPublishes = Counter()
    /// Publishes of clients, committed over WebSockets.
    public let webSocketPublishes = Counter()
    /// Commands whose script was called.
    public let commands = Counter()
    /// Commands refused, by the gateway or by their script.
    public let commandsRefused = Counter()
    /// Calls that failed because of a script or its data, which needs a correction.
    public let commandFaults = Counter()
    /// Questions of commands to outside services, including those answered from the cache.
    public let asks = Counter()
    /// Questions that shared the answer of a pending one.
    public let asksShared = Counter()
    /// Questions answered from the cache.
    public let asksKept = Counter()
    /// Pending questions.
    public let asksWaiting = Counter()
    /// Questions for whose service no courier lived.
    public let asksWithoutCourier = Counter()
    /// Questions that no courier answered in time.
    public let asksSlow = Counter()
    /// Questions for which couriers reported a failure.
    public let asksFailed = Counter()
    /// Answers that were too large or no JSON object.
    public let asksUnreadable = Counter()
    /// Answers to questions that are unknown or no longer pending.
    public let asksStray = Counter()
    /// Requests and messages refused by a rate limit.
    public let rateLimited = Counter()
    /// Clients warned that they are close to their rate.
    public let rateWarnings = Counter()
    /// Number of pauses in reading from a client that sent too fast.
    public let rateDelays = Counter()
    /// Reads that wait for their turn.
    public let readsWaiting = Counter()
    /// Callers answered by a read that others had requested.
    public let readsShared = Counter()
    /// Sessions listed as present, once for each topic.
    public let presenceTracked = Counter()
    /// Calls that wrote presence changes to Redis.
    public let presenceWrites = Counter()
    /// Number of reads of a topic's presence.
    public let presenceReads = Counter()
    /// Presence changes sent to clients, once for all clients of a topic.
    public let presenceChanges = Counter()
    /// Tokens and keys refused.
    public let authenticationFailures = Counter()
    /// Requests to connect from pages of forbidden origins.
    public let originsRefused = Counter()
    /// Requests without an upgrade to a path of WebSockets.
    public let upgradesMissing = Counter()
    /// Connections of this shard.
    public let transport: TransportStatistics
    /// The loop of this shard.
    public let loop: LoopStatistics
    /// Events and deliveries by namespace.
    public let namespaces: NamespaceStatistics
    /// The publishes of this node that are being timed.
    public let timed: TimedPublishes
    /// Times from reading a publish to the last write of its event on this shard.
    public let deliveryLatency = DurationHistogram(
        boundsUs: [
            500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
            10_000_000,
        ])

    /// Zero counts, beside the figures that the shard's reactor and listener keep themselves.
    ///
    /// `namespaces` are the configured ones, `timed` is shared by all threads of the node.
    public init(
        transport: TransportStatistics, loop: LoopStatistics, namespaces: [String], timed: TimedPublishes
    ) {
        self.transport = transport
        self.loop = loop
        self.namespaces = NamespaceStatistics(namespaces)
        self.timed = timed
    }
}

/// Figures of the bus: what the first shard counts for all.
///
/// Thread: written by the first shard's, readable by any.
public final class BusStatistics: Sendable {
    /// Number of times that a shard's mailbox was full when the first shard had something for it.
    public let mailboxOverflows = Counter()
    /// Number of times that a shard's subscription was confirmed again after a loss.
    public let resubscribes = Counter()
    /// Number of times that no delivery probe returned by a link, or its subscription was not confirmed.
    let probesLostBySubscriber = Counter()
    /// Delivery probes of single shards that did not return while others' did.
    let probesLostByShards = Counter()
    /// Number of times that links led to different Redis processes for longer than a probe may take.
    let mismatches = Counter()
    /// Number of times that the Redis process behind links had become a replica.
    let demotions = Counter()

    /// Counts the reason for which the links of these parts were closed.
    public func count(_ reason: NotReadyReason, _ parts: [Condition.Part]) {
        switch reason {
        case .redisMismatch: mismatches.add(1)
        case .probeLost where parts.contains(where: { $0.shard != nil }): probesLostBySubscriber.add(1)
        case .probeLost: probesLostByShards.add(parts.count)
        default: demotions.add(1)
        }
    }
}

/// Figures of reloads.
///
/// Thread: written by the main one, readable by any.
public final class ReloadStatistics: Sendable {
    /// Reloads that succeeded.
    public let done = Counter()
    /// Reloads that failed in some part, so that nothing was changed.
    public let refused = Counter()
}

/// The figures of every Redis link and shard of a node, collected as their threads start.
public final class Registry<Figures: Sendable>: Sendable {
    private let list = Guarded<[Figures]>([])

    /// Adds the figures that are not `nil`.
    public func add(_ figures: Figures?...) {
        list.withLock { $0 += figures.compactMap { $0 } }
    }

    /// Everything added so far.
    public var all: [Figures] { list.withLock { $0 } }
}
