import Connections
import Core
import Reactors
import Service

/// Counts of a node since its start, from which rates follow: a reader takes the difference of two answers.
///
/// Pure.
public struct NodeTraffic: Equatable, Sendable {
    /// Milliseconds since the start; the distance of two answers in time.
    public let uptimeMs: Int
    /// Messages of clients.
    public let messagesIn: Int
    /// Events handed to members.
    public let messagesOut: Int
    /// Bytes received from clients.
    public let bytesIn: Int
    /// Bytes sent to clients.
    public let bytesOut: Int
    /// Publishes committed over HTTP and by clients.
    public let publishes: Int
    /// Requests, messages, tokens, origins and connections that were refused.
    public let refusals: Int
    /// Connections closed because their clients read too slowly.
    public let slowCloses: Int
    /// Processor time of the process, milliseconds; 0 where the system does not show it.
    public let cpuMs: Int
    /// Upper bounds of the buckets of ``loopTicks``, microseconds.
    public let loopBoundsUs: [Int]
    /// Ticks of all loops by duration; one element more than ``loopBoundsUs``.
    public let loopTicks: [Int]
}

extension Metrics {
    /// The counts of now; reads other threads' counters, which may be a tick old.
    public var traffic: NodeTraffic {
        let shards = figures.shards.all
        func sum(_ path: (ShardStatistics) -> Counter) -> Int { shards.reduce(0) { $0 &+ path($1).value } }
        func carried(_ path: (TransportStatistics) -> Counter) -> Int {
            shards.reduce(0) { $0 &+ path($1.transport).value }
        }
        let budgeted = budgets.refused.reduce(0) { $0 &+ $1.count }
        let slow = shards.reduce(0) { count, shard in
            count &+ shard.transport.closedByReason.reduce(0) { $0 &+ ($1.0 == .slowConsumer ? $1.1 : 0) }
        }
        let bounds = shards.first?.loop.durations.boundsUs ?? []
        var ticks = [Int](repeating: 0, count: bounds.count + 1)
        for shard in shards {
            for (place, count) in shard.loop.durations.counts.enumerated() where ticks.indices.contains(place) {
                ticks[place] &+= count
            }
        }
        return NodeTraffic(
            uptimeMs: Clock.monotonicMs() - figures.startedMs, messagesIn: sum(\.messagesIn),
            messagesOut: sum(\.deliveries), bytesIn: carried(\.bytesIn), bytesOut: carried(\.bytesOut),
            publishes: sum(\.httpPublishes) &+ sum(\.webSocketPublishes),
            refusals: sum(\.rateLimited) &+ budgeted &+ sum(\.authenticationFailures) &+ sum(\.originsRefused)
                &+ admission.figures.refused &+ carried(\.descriptorRefusals),
            slowCloses: slow, cpuMs: ProcessFigures.cpuMs ?? 0, loopBoundsUs: bounds, loopTicks: ticks)
    }
}
