/// What calls go through: the link to one server, or the links to all masters of a cluster.
///
/// Thread: the reactor's.
public protocol RedisCalls: AnyObject {
    /// What a call leads to: a reply that is not an error, or the failure.
    typealias Completion = (Result<RESPValue, RedisFailure>) -> Void

    /// Whether calls can be made, on a cluster to one master at least.
    var isReady: Bool { get }
    /// The most calls that are in flight on one connection.
    var callsMax: Int { get }
    /// Why there is no connection, for logs; `nil` while nothing has failed.
    var lastFailure: RedisFailure? { get }
    /// What the one server said of itself; `nil` while there is none, and on a cluster.
    var facts: ServerFacts? { get }
    /// Whether topics' channels are sharded and the keys of a call lie in one slot: a cluster.
    var isSharded: Bool { get }
    /// The run id of the process that ran the call whose completion runs now; `nil` where it is not known.
    var writer: [UInt8]? { get }
    /// Whether every write is on disk before it is answered, as far as is known.
    var syncsEveryWrite: Bool { get }
    /// What scripts that work on a key compare positions with; `nil` while its server is away.
    ///
    /// The key is made on a cluster alone.
    func fence(of key: @autoclosure () -> [UInt8]) -> [UInt8]?
    /// Makes one call, on a cluster to the master of its first key.
    func call(_ call: RedisCall, _ completion: @escaping Completion)
    /// Calls a script, on a cluster at the master of its first key; calls of one `lane` run in the order they were made.
    func run(_ call: ScriptCall, lane: UInt64?, _ completion: @escaping Completion)
    /// Whether a call of the lane is in flight or waits.
    func isBusy(_ lane: UInt64) -> Bool
    /// Asks each server again which history it writes, which a replica or a failover may have changed.
    func recheckHistory()
    /// Ends every connection; what is in flight fails.
    func stop()
}
