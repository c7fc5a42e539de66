import Core
import RedisLink
import Transport

/// What a shard is told by other threads.
enum ShardMessage: Sendable {
    /// Redis has confirmed a topic's channel.
    case confirmed(Topic)
    /// An event came on a topic's channel.
    case event(Topic, ChannelMessage)
    /// A topic's channel told who came and who left.
    case presence(Topic, PresenceNews)
    /// A topic's subscription was lost; it is confirmed again later.
    case topicLost(Topic)
    /// The subscription, or messages to this shard, were lost.
    case lost
    /// Publish this number on the probe channel.
    case probe(Int)
    /// Where the servers are now.
    case servers(ServerMap)
    /// Dial the command link again: it is mute or leads elsewhere.
    case reconnect(NotReadyReason)
    /// Which master of the cluster has which slot.
    case slots(SlotMap)
    /// Publish this number at the master of that node id, on a channel of a slot of its own.
    case probeMaster([UInt8], channel: [UInt8], Int)
    /// Dial the link to that master again.
    case reconnectMaster([UInt8], NotReadyReason)
    /// Tell anew what became of the link to that master.
    case tellMaster([UInt8])
    /// Tell what is known of a topic, for another shard's question.
    case report(Topic, question: Int, asker: Int)
    /// The answer of one shard.
    case reported(question: Int, TopicReport)
    /// A request for a session that lives here.
    case poll(PollRequest)
    /// The answer to a request that was handed over.
    case polled(number: Int, PollAnswer)
    /// The client of a session that lives here has gone before it was answered.
    case pollAbandoned([UInt8])
    /// A WebSocket came elsewhere for a session that lives here.
    case upgrade(MovingUpgrade)
    /// Another node says something of a session that polls.
    case hop([UInt8])
    /// A courier answers a question to a service outside.
    case asked([UInt8])
    /// What the nodes of this Redis share, and nobody else knows.
    case hopSecret([UInt8])
    /// A shard has ended: what was handed over to it is not answered.
    case pollingEnded(shard: Int)
    /// Rights have changed: look at the sessions.
    case rights(RightsChange)
    /// Accept clients at this address.
    case listen(ListenerPlan)
    /// Use this certificate for new connections.
    case replaceTLS(TLSContext)
    /// Stop accepting, tell clients, close them over so many milliseconds.
    case drain(overMs: Int)
    /// End the thread now.
    case stop
}
