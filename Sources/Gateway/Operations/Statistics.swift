import Reactors
import RedisLink
import Transport

/// Figures of one shard.
///
/// Thread: written by the shard's, readable by any.
final class ShardStatistics: Sendable {
    /// Open sessions.
    let sessions = Counter()
    /// Live subscriptions.
    let subscriptions = Counter()
    /// Topics with members, or lingering.
    let topics = Counter()
    /// Events received from Redis for topics of this shard.
    let events = Counter()
    /// Events written for clients, once for each encoding that members wanted.
    let encodings = Counter()
    /// Events and answers that were deflated, once for all receivers.
    let deflated = Counter()
    /// Bytes of them before deflation.
    let deflateBytesIn = Counter()
    /// Bytes of them after deflation.
    let deflateBytesOut = Counter()
    /// Messages of clients that were inflated.
    let inflated = Counter()
    /// Bytes of them before inflation.
    let inflateBytesIn = Counter()
    /// Bytes of them after inflation.
    let inflateBytesOut = Counter()
    /// Events handed to members.
    let deliveries = Counter()
    /// Events sent to reconnecting clients from the log.
    let recovered = Counter()
    /// Events fetched from the log to close a hole.
    let repaired = Counter()
    /// Gaps reported.
    let gaps = Counter()
    /// Messages of clients.
    let messagesIn = Counter()
    /// Sessions whose clients poll.
    let pollingSessions = Counter()
    /// Polls passed to the session's shard.
    let pollsHandedOver = Counter()
    /// Connections passed to the shard of their session.
    let connectionsMoved = Counter()
    /// Polls relayed to another node, which owns their session.
    let relay = Counter()
    /// Of them, those that wait for an answer.
    let relaysWaiting = Counter()
    /// Polls relayed by other nodes.
    let relaysTaken = Counter()
    /// Polls whose relay failed.
    let relaysFailed = Counter()
    /// Relayed messages that are forged, repeated or out of order.
    let relaysRefused = Counter()
    /// HTTP requests answered.
    let requests = Counter()
    /// Publishes committed over HTTP.
    let httpPublishes = Counter()
    /// Publishes of clients, committed over WebSockets.
    let webSocketPublishes = Counter()
    /// Commands whose script was called.
    let commands = Counter()
    /// Commands refused, by the gateway or by their script.
    let commandsRefused = Counter()
    /// Calls that failed because of a script or its data, which needs a correction.
    let commandFaults = Counter()
    /// Questions of commands to outside services, including those answered from the cache.
    let asks = Counter()
    /// Questions that shared the answer of a pending one.
    let asksShared = Counter()
    /// Questions answered from the cache.
    let asksKept = Counter()
    /// Pending questions.
    let asksWaiting = Counter()
    /// Questions for whose service no courier lived.
    let asksWithoutCourier = Counter()
    /// Questions that no courier answered in time.
    let asksSlow = Counter()
    /// Questions for which couriers reported a failure.
    let asksFailed = Counter()
    /// Answers that were too large or no JSON object.
    let asksUnreadable = Counter()
    /// Answers to questions that are unknown or no longer pending.
    let asksStray = Counter()
    /// Requests and messages refused by a rate limit.
    let rateLimited = Counter()
    /// Clients warned that they are close to their rate.
    let rateWarnings = Counter()
    /// Number of pauses in reading from a client that sent too fast.
    let rateDelays = Counter()
    /// Reads that wait for their turn.
    let readsWaiting = Counter()
    /// Callers answered by a read that others had requested.
    let readsShared = Counter()
    /// Sessions listed as present, once for each topic.
    let presenceTracked = Counter()
    /// Calls that wrote presence changes to Redis.
    let presenceWrites = Counter()
    /// Number of reads of a topic's presence.
    let presenceReads = Counter()
    /// Presence changes sent to clients, once for all clients of a topic.
    let presenceChanges = Counter()
    /// Tokens and keys refused.
    let authenticationFailures = Counter()
    /// Requests to connect from pages of forbidden origins.
    let originsRefused = Counter()
    /// Requests without an upgrade to a path of WebSockets.
    let upgradesMissing = Counter()
    /// Connections of this shard.
    let transport: TransportStatistics
    /// The loop of this shard.
    let loop: LoopStatistics

    init(transport: TransportStatistics, loop: LoopStatistics) {
        self.transport = transport
        self.loop = loop
    }
}

/// Figures of the broker.
///
/// Thread: written by the broker's, readable by any.
final class BusStatistics: Sendable {
    /// Messages on topics' channels.
    let channelMessages = Counter()
    /// Of them, malformed ones, which were dropped.
    let channelMessagesRefused = Counter()
    /// Messages on this node's channel that no other node has sent.
    let relaysRefused = Counter()
    /// Number of times that a shard's mailbox was full and its topics had to be repaired.
    let mailboxOverflows = Counter()
    /// Number of times that the subscription was confirmed again after a loss.
    let resubscribes = Counter()
    /// Number of times that no delivery probe returned, or the subscription was not confirmed.
    let probesLostBySubscriber = Counter()
    /// Delivery probes of single shards that did not return while others' did.
    let probesLostByShards = Counter()
    /// Number of times that links led to different Redis processes for longer than a probe may take.
    let mismatches = Counter()
    /// Number of times that the Redis process behind the subscription had become a replica.
    let demotions = Counter()

    /// Counts the reason for which the links of these parts were closed.
    func count(_ reason: NotReadyReason, _ parts: [Condition.Part]) {
        switch reason {
        case .redisMismatch: mismatches.add(1)
        case .probeLost where parts.contains(.subscriber): probesLostBySubscriber.add(1)
        case .probeLost: probesLostByShards.add(parts.count)
        default: demotions.add(1)
        }
    }
}

/// Figures of reloads.
///
/// Thread: written by the main one, readable by any.
final class ReloadStatistics: Sendable {
    /// Reloads that succeeded.
    let done = Counter()
    /// Reloads that failed in some part, so that nothing was changed.
    let refused = Counter()
}

/// The figures of every Redis link and shard of a node, collected as their threads start.
final class Registry<Figures: Sendable>: Sendable {
    private let list = Guarded<[Figures]>([])

    /// Adds the figures that are not `nil`.
    func add(_ figures: Figures?...) {
        list.withLock { $0 += figures.compactMap { $0 } }
    }

    /// Everything added so far.
    var all: [Figures] { list.withLock { $0 } }
}
