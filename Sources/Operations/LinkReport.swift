public import RedisLink

/// A shard's report to the broker about its command link.
public enum LinkReport: Equatable, Sendable {
    /// Being dialled; the failure of the last connection or dial.
    case down(RedisFailure?)
    /// Connected to the Redis process of this run id.
    case up(runID: [UInt8])
    /// Ended with its shard, in good order.
    case ended
}
