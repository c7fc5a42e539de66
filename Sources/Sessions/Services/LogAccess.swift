public import Commands
public import Core
public import Dialects
public import Rights
public import Topics

/// The event log and the sets beside it, for sessions.
///
/// Thread: the shard's.
public protocol LogAccess: AnyObject {
    /// Asks Redis whether the user is a member of the topic.
    func isMember(_ topic: Topic, user: [UInt8], _ completion: @escaping (Result<Bool, Refusal>) -> Void)
    /// Asks Redis which topics the topic follows.
    func follows(_ topic: Topic, _ completion: @escaping (Result<[Topic], Refusal>) -> Void)
    /// Reads the newest events of a topic since a time; the asker's budget is charged.
    func replay(
        _ topic: Topic, _ wanted: ReplayRequest, asker: ReadCaller,
        _ completion: @escaping (Result<Replay, Refusal>) -> Void
    )
    /// Publishes an event; `id` is the publisher's, `excluding` the session that does not receive it.
    ///
    /// The payer's budget is charged.
    func publish(
        _ request: PublishRequest, id: PublishID?, excluding origin: EchoExclusion?, payer: Payer,
        _ completion: @escaping (Result<Position, Refusal>) -> Void)
}
