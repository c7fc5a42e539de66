/// The interface for calls: the link to one server, or the links to all masters of a cluster.
///
/// Thread: the reactor's.
public protocol RedisCalls: AnyObject {
    /// Receives the outcome of a call: a reply that is not an error, or the failure.
    typealias Completion = (Result<RESPValue, RedisFailure>) -> Void

    /// Whether calls can be made; on a cluster to at least one master.
    var isReady: Bool { get }
    /// The most calls in flight on one connection.
    var callsMax: Int { get }
    /// The last failure of a connection, for logs; `nil` while none has failed.
    var lastFailure: RedisFailure? { get }
    /// The facts that the one server reported; `nil` while there is no connection, and on a cluster.
    var facts: ServerFacts? { get }
    /// Whether topics' channels are sharded and the keys of a call must lie in one slot: a cluster.
    var isSharded: Bool { get }
    /// The run id of the process that ran the call whose completion runs now; `nil` when it is not known.
    var writer: [UInt8]? { get }
    /// Whether every write is on disk before it is answered, as far as it is known.
    var syncsEveryWrite: Bool { get }
    /// The text that scripts for a key compare positions with; `nil` while its server is away.
    ///
    /// Only a cluster evaluates the key.
    func fence(of key: @autoclosure () -> [UInt8]) -> [UInt8]?
    /// Sends one call, on a cluster to the master of its first key.
    func call(_ call: RedisCall, _ completion: @escaping Completion)
    /// Calls a script, on a cluster at the master of its first key; calls of one `lane` run in the order they were
    /// made.
    func run(_ call: ScriptCall, lane: UInt64?, _ completion: @escaping Completion)
    /// Whether a call of the lane is in flight or waits.
    func isBusy(_ lane: UInt64) -> Bool
    /// Ends every connection; calls in flight fail.
    func stop()
}
