/// State of a link to one server.
public enum LinkReport: Equatable, Sendable {
    /// Being dialled; the failure of the last connection or dial.
    case down(RedisFailure?)
    /// Connected to the Redis process of this run id.
    case up(runID: [UInt8])
    /// Ended with its thread, in good order.
    case ended
}
