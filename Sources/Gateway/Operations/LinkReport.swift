import RedisLink

/// What a shard tells the broker of its command link.
enum LinkReport: Equatable, Sendable {
    /// Being dialled; why the last connection or dial failed.
    case down(RedisFailure?)
    /// Connected to the Redis process of this run id.
    case up(runID: [UInt8])
    /// Ended with its shard, in good order.
    case ended
}
