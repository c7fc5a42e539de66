import Core
import Operations
import RedisLink
import Topics
import Transport
import Transports

/// Messages from other threads to a shard.
enum ShardMessage: Sendable {
    /// Redis has confirmed a topic's channel.
    case confirmed(Topic)
    /// An event arrived on a topic's channel.
    case event(Topic, ChannelMessage)
    /// A change of presence arrived on a topic's channel.
    case presence(Topic, PresenceUpdate)
    /// A topic's subscription was lost; it is confirmed again later.
    case topicLost(Topic)
    /// The subscription, or messages to this shard, were lost.
    case lost
    /// Publish this number on the probe channel.
    case probe(Int)
    /// The current servers.
    case servers(ServerMap)
    /// Dial the command link again: it is mute or leads to another server.
    case reconnect(NotReadyReason)
    /// The master of each slot of the cluster.
    case slots(SlotMap)
    /// Publish this number at the master of that node id, on a channel of one of its slots.
    case probeMaster([UInt8], channel: [UInt8], Int)
    /// Dial the link to that master again.
    case reconnectMaster([UInt8], NotReadyReason)
    /// Report the state of the link to that master again.
    case tellMaster([UInt8])
    /// Counts of a topic, asked for or answered by another shard.
    case audit(TopicAudit.Message)
    /// A message about polling sessions.
    case polling(PollingMessage)
    /// A courier answers a question to an outside service.
    case asked([UInt8])
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
