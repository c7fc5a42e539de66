import Reactors
import RedisLink
import Transport

/// Figures of one shard.
///
/// Thread: written by the shard's, readable by any.
final class ShardStatistics: Sendable {
    /// Sessions open now.
    let sessions = Counter()
    /// Live subscriptions now.
    let subscriptions = Counter()
    /// Topics with members, or lingering.
    let topics = Counter()
    /// Events that came from Redis for topics of this shard.
    let events = Counter()
    /// Events written for clients, once for each encoding that members wanted.
    let encodings = Counter()
    /// Events and answers that were deflated, once for all who get them.
    let deflated = Counter()
    /// Bytes of them before.
    let deflateBytesIn = Counter()
    /// Bytes of them after.
    let deflateBytesOut = Counter()
    /// Messages of clients that were inflated.
    let inflated = Counter()
    /// Bytes of them as they came.
    let inflateBytesIn = Counter()
    /// Bytes of them as they are.
    let inflateBytesOut = Counter()
    /// Events handed to members.
    let deliveries = Counter()
    /// Events given to returning clients.
    let recovered = Counter()
    /// Events fetched from the log to close a hole.
    let repaired = Counter()
    /// Gaps told.
    let gaps = Counter()
    /// Messages of clients.
    let messagesIn = Counter()
    /// Sessions whose clients poll.
    let pollingSessions = Counter()
    /// Polls that were handed over to the session's shard.
    let pollsHandedOver = Counter()
    /// Connections given to the shard of their session.
    let connectionsMoved = Counter()
    /// Polls that went to another node, which has their session.
    let hops = Counter()
    /// Of them, those that wait for an answer now.
    let hopsWaiting = Counter()
    /// Polls that came from other nodes.
    let hopsTaken = Counter()
    /// Polls that could not be asked or answered by way of another node.
    let hopsFailed = Counter()
    /// Messages of other nodes that none of them has sent, or not now.
    let hopsRefused = Counter()
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
    /// Calls that failed because of a script or its data: somebody must mend it.
    let commandFaults = Counter()
    /// Questions of commands to services outside, those whose answers were kept among them.
    let asks = Counter()
    /// Questions that others were asking already.
    let asksShared = Counter()
    /// Questions whose answers were kept.
    let asksKept = Counter()
    /// Questions that wait now.
    let asksWaiting = Counter()
    /// Questions for whose service no courier lived.
    let asksWithoutCourier = Counter()
    /// Questions that no courier has answered in time.
    let asksSlow = Counter()
    /// Questions that couriers could not have answered.
    let asksFailed = Counter()
    /// Answers that were too large or no JSON object.
    let asksUnreadable = Counter()
    /// Answers to questions that nobody has asked, or no more.
    let asksStray = Counter()
    /// Requests and messages refused for their rate.
    let rateLimited = Counter()
    /// Clients warned that they are close to their rate.
    let rateWarnings = Counter()
    /// Times a client that sent too fast was left unread for a while.
    let rateDelays = Counter()
    /// Reads that wait for their turn now.
    let readsWaiting = Counter()
    /// Callers answered by a read that others had asked for.
    let readsShared = Counter()
    /// Sessions listed on topics now, once for each topic.
    let presenceTracked = Counter()
    /// Calls that told Redis who came and who left.
    let presenceWrites = Counter()
    /// Times a topic's presence was read.
    let presenceReads = Counter()
    /// Changes that were told to clients, once for all clients of a topic.
    let presenceChanges = Counter()
    /// Tokens and keys refused.
    let authenticationFailures = Counter()
    /// Requests to connect from pages of origins that are not allowed.
    let originsRefused = Counter()
    /// Requests to a path of WebSockets that asked for no upgrade.
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
final class BrokerStatistics: Sendable {
    /// Messages on topics' channels.
    let channelMessages = Counter()
    /// Of them: neither form of a channel message, dropped.
    let channelMessagesRefused = Counter()
    /// Messages for this node that are none of another's.
    let hopsRefused = Counter()
    /// Times a shard's mailbox was full and its topics had to be repaired.
    let mailboxOverflows = Counter()
    /// Times the subscription was confirmed again after it was lost.
    let resubscribes = Counter()
    /// Times no delivery probe came back, or the subscription was not confirmed.
    let probesLostBySubscriber = Counter()
    /// Delivery probes of single shards that did not come back while others' did.
    let probesLostByShards = Counter()
    /// Times links led to different Redis processes for longer than a probe may take.
    let mismatches = Counter()
    /// Times the Redis process behind the subscription had become a replica.
    let demotions = Counter()

    /// Counts what the links of these parts were given up for.
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
    /// Reloads after which everything new is used.
    let done = Counter()
    /// Reloads in which something was wrong, so that nothing was changed.
    let refused = Counter()
}

/// The figures of every Redis link and shard of a node, collected as their threads start.
final class Registry<Figures: Sendable>: Sendable {
    private let list = Guarded<[Figures]>([])

    /// Adds what exists.
    func add(_ figures: Figures?...) {
        list.withLock { $0 += figures.compactMap { $0 } }
    }

    /// Everything added so far.
    var all: [Figures] { list.withLock { $0 } }
}
