import Core
import Transport

/// Messages from other threads to a shard.
enum ShardMessage: Sendable {
    /// The bus has received something for this shard, or asks for something.
    case bus(BusEvent)
    /// Report this shard's counts of a topic, for another shard's question.
    case report(Topic, question: Int, asker: Int)
    /// The answer of one shard.
    case reported(question: Int, TopicReport)
    /// A request for a session of this shard.
    case poll(PollRequest)
    /// The answer to a request passed to another shard.
    case polled(number: Int, PollAnswer)
    /// The client of a session of this shard disconnected before it was answered.
    case pollAbandoned([UInt8])
    /// A WebSocket for a session of this shard was opened on another shard.
    case upgrade(MovingUpgrade)
    /// The secret of the nodes of this Redis.
    case relaySecret([UInt8])
    /// A shard has ended: requests passed to it are not answered.
    case pollingEnded(shard: Int)
    /// Rights have changed: check the sessions.
    case rights(RightsChange)
    /// Accept clients at this address.
    case listen(ListenerPlan)
    /// Use this certificate for new connections.
    case replaceTLS(TLSContext)
    /// Stop accepting, notify clients, close them over so many milliseconds.
    case drain(overMs: Int)
    /// End the thread now.
    case stop
}
