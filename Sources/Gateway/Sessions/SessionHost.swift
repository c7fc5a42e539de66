import Commands
import Core
import Dialects
import Rights

/// The services that a session needs of its shard; tests use a model of it.
///
/// Thread: the shard's.
protocol SessionHost: AnyObject {
    /// The rules of all sessions of the shard.
    var sessionRules: SessionRules { get }
    /// The shard's topics.
    var topics: TopicTable<Session> { get }
    /// Lets a session join a topic.
    func join(_ session: Session, _ request: SubscribeRequest, ref: Reference?)
    /// Monotonic milliseconds.
    var nowMs: Int { get }
    /// Milliseconds since 1970; for tokens only.
    var wallMs: Int { get }
    /// Checks a token.
    func verify(_ token: [UInt8]) -> Result<Identity, TokenFailure>
    /// Asks Redis whether the user is a member of the topic.
    func isMember(_ topic: Topic, user: [UInt8], _ completion: @escaping (Result<Bool, Refusal>) -> Void)
    /// Asks Redis which topics the topic follows.
    func follows(_ topic: Topic, _ completion: @escaping (Result<[Topic], Refusal>) -> Void)
    /// Reads the newest events of a topic since a time; the asker's budget is charged.
    func replay(
        _ topic: Topic, _ wanted: ReplayRequest, asker: ReadCaller,
        _ completion: @escaping (Result<Replay, Refusal>) -> Void
    )
    /// Publishes an event; `id` is the publisher's, and the payer's budget is charged.
    func publish(
        _ request: PublishRequest, id: PublishID?, origin: EchoExclusion?, payer: Payer,
        _ completion: @escaping (Result<Position, Refusal>) -> Void)
    /// From now on, sends a session the presence of a topic.
    func watchPresence(_ session: Session, _ topic: Topic)
    /// Lists a session as present on a topic, for a user.
    func track(
        _ session: Session, _ request: TrackRequest, user: [UInt8]?,
        _ completion: @escaping (Result<PresenceID, Refusal>) -> Void)
    /// Removes a session from the presence of a topic.
    func untrack(_ session: Session, _ topic: Topic, _ completion: @escaping (Result<PresenceID, Refusal>) -> Void)
    /// A session has left a topic whose presence it watched, or on which it was listed.
    func leftPresence(_ session: Session, _ topic: Topic)
    /// The payer whose budget is charged for a caller at an address.
    func payer(_ caller: Caller, at address: IPAddress?) -> Payer
    /// Runs a command.
    func run(
        _ name: String, _ arguments: CommandArguments, operation: OperationID?, scope: [UInt8], lane: UInt64,
        caller: Caller, payer: Payer?,
        _ completion: @escaping (Result<[UInt8], Refusal>) -> Void)
    /// A new lane number for commands that keep their order.
    func newLane() -> UInt64
    /// A connection of a user was opened.
    func came(_ user: [UInt8])
    /// A connection of a user was closed.
    func left(_ user: [UInt8])
    /// Counts something.
    func count(_ figure: SessionFigure)
    /// Logs a failure of a session.
    func log(_ trouble: SessionTrouble, of session: Session)
    /// Counts an event whose receiver no longer exists.
    func undeliverable(_ delivery: Delivery)
}

/// A failure of one session, for the log.
enum SessionTrouble {
    /// Its token was refused, when shown or later; the text says which.
    case refused(String, TokenFailure)
    /// A message of the client got an error that is the gateway's or Redis's.
    case failed(code: String, message: String, Topic?)
    /// A message of the client was refused, since the client asks more than a rate or a budget allows.
    case limited(message: String, Topic?)
}

extension SessionHost {
    func join(_ session: Session, _ request: SubscribeRequest, ref: Reference?) {
        topics.join(session, request, ref: ref)
    }
}
