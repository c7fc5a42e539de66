/// The figures of Redis in a report.
struct TopRedis: Equatable {
    /// Microseconds until all servers had answered a PING; `nil` without an answer.
    var latencyUs: Int?
    /// Bytes in use on all servers; `nil` when not known.
    var usedBytes: Int?
    /// Bytes that they may use; `nil` when one of them has no bound.
    var boundBytes: Int?
}
