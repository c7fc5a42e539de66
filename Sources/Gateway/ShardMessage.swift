import Bus
import Connections
import Core
import Fleet
import HTTPSurface
import Operations
import Topics
import Transports

/// Messages from other threads to a shard.
enum ShardMessage: Sendable {
    /// The first shard leads this one's links, or has received something for it.
    case order(BusOrder)
    /// A shard reports on its links; to the first one only.
    case report(BusReport)
    /// Counts of a topic, asked for or answered by another shard.
    case audit(TopicAudit.Message)
    /// A question over all nodes, or a shard's answer.
    case fleet(FleetOrder)
    /// A message about polling sessions.
    case polling(PollingMessage)
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
