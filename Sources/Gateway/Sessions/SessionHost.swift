import Commands
import Core
import Dialects
import Rights

/// What a session needs of its shard; a model of it in tests.
///
/// Thread: the shard's.
protocol SessionHost: AnyObject {
    /// What all sessions of the shard go by.
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
    /// Asks Redis what the topic follows.
    func follows(_ topic: Topic, _ completion: @escaping (Result<[Topic], Refusal>) -> Void)
    /// Reads the newest events of a topic since a time; the asker pays.
    func replay(
        _ topic: Topic, _ wanted: ReplayRequest, asker: TopicAsker,
        _ completion: @escaping (Result<Replay, Refusal>) -> Void
    )
    /// Publishes an event; the id is its publisher's, and the payer pays for it.
    func publish(
        _ request: PublishRequest, id: PublishID?, origin: SessionOrigin?, payer: Payer,
        _ completion: @escaping (Result<Position, Refusal>) -> Void)
    /// Tells a session from now on who is here on a topic.
    func watchPresence(_ session: Session, _ topic: Topic)
    /// Lists a session on a topic as a user's.
    func track(
        _ session: Session, _ request: TrackRequest, user: [UInt8]?,
        _ completion: @escaping (Result<PresenceID, Refusal>) -> Void)
    /// Lists a session no more.
    func untrack(_ session: Session, _ topic: Topic, _ completion: @escaping (Result<PresenceID, Refusal>) -> Void)
    /// A session has left a topic of whose presence it was told, or on which it was listed.
    func leftPresence(_ session: Session, _ topic: Topic)
    /// Whose budget pays for a caller at an address.
    func payer(_ caller: Caller, at address: IPAddress?) -> Payer
    /// Runs a command.
    func run(
        _ name: String, _ arguments: CommandArguments, operation: OperationID?, scope: [UInt8], lane: UInt64,
        caller: Caller, payer: Payer?,
        _ completion: @escaping (Result<[UInt8], SessionCommandFailure>) -> Void)
    /// A number for commands that keep their order.
    func newLane() -> UInt64
    /// A connection of a person came.
    func came(_ user: [UInt8])
    /// A connection of a person went.
    func left(_ user: [UInt8])
    /// Counts something.
    func count(_ figure: SessionFigure)
    /// Says in the log what went wrong for a session.
    func log(_ trouble: SessionTrouble, of session: Session)
    /// Counts an event whose receiver is gone.
    func undeliverable(_ delivery: Delivery)
}

/// A failure of one session, for the log.
enum SessionTrouble {
    /// Its token was refused, now or after it had been good; the text says which.
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
