import Core
import Dialects
import Rights

/// What happens to a session.
enum SessionInput {
    /// A message of the client came, decoded.
    case message(Result<ClientRequest, DialectRefusal>)
    /// The client has proven at another door to be more than an open socket.
    case proven
    /// A token was checked, at that wall time in milliseconds since 1970; `isRefresh`: a refused one changes nothing.
    case verified(Result<Identity, TokenFailure>, isRefresh: Bool, wallMs: Int, ref: Reference?)
    /// Redis said whether the user is a member of the topic.
    case membership(Topic, Result<Bool, Refusal>)
    /// What the own topic follows was read; the number is that of the question.
    case follows(number: Int, Result<[Topic], Refusal>)
    /// What was asked for by the clock was read; the number is that of the question.
    case replayed(Topic, number: Int, Result<Replay, Refusal>)
    /// An event on the own topic told that what it follows has changed.
    case followsChanged
    /// A publish was committed, or was not.
    case published(Topic, Result<Position, Refusal>, ref: Reference?)
    /// The session is listed, or is not any more, or neither; `isNew`: it was not listed before.
    case tracked(Topic, Result<PresenceID, Refusal>, isNew: Bool, ref: Reference?)
    /// A command was run, or was not.
    case answered(Result<[UInt8], SessionCommandFailure>, ref: Reference?)
    /// The session is live on a topic.
    case joined(Topic)
    /// A topic could not be joined.
    case joinRefused(Topic, Refusal)
    /// The right to a topic was taken away.
    case withdrawn(Topic, Refusal)
    /// What the caller showed is refused from now on.
    case revoked(TokenFailure)
    /// Events of the topic were missed.
    case gap(Topic, Position?, GapReason)
    /// The deadline has passed.
    case deadline
    /// The connection is over.
    case ended
}

/// Why a command failed, in words for the client.
struct SessionCommandFailure: Error, Equatable {
    /// An ``ErrorCode`` or the script's own.
    let code: String
    let message: String
    let retryAfterMs: Int?
}

/// What a session wants done, in this order.
enum SessionAction {
    /// Tell the client.
    case send(ServerMessage, Reference?)
    /// Check a token; the answer is ``SessionInput/verified(_:isRefresh:wallMs:ref:)``.
    case verify(token: [UInt8], isRefresh: Bool, Reference?)
    /// Ask Redis whether the user is a member of the topic.
    case askMembership(Topic, user: [UInt8])
    /// Ask Redis what the topic follows.
    case readFollows(Topic, number: Int)
    /// Read the newest events of a topic since a time.
    case readReplay(Topic, ReplayRequest, number: Int)
    /// Hand over such events, which end at that position.
    case tellReplay(Topic, [ChannelMessage], Position, Reference?)
    /// Join a topic for the client.
    case join(SubscribeRequest, Reference?)
    /// Join a topic because the own topic follows it.
    case follow(Topic)
    /// Leave a topic, live or joining.
    case leave(Topic)
    /// Publish an event.
    case publish(PublishRequest, Reference?)
    /// Tell the client who is here from now on.
    case watch(Topic)
    /// List the session, as this user's; `isNew`: it is not listed yet.
    case track(TrackRequest, user: [UInt8]?, isNew: Bool, Reference?)
    /// List it no more.
    case untrack(Topic, Reference?)
    /// Run a command.
    case run(name: String, arguments: CommandArguments, Reference?)
    /// A person has come, or gone: their presence is kept alive while connections are open.
    case came(user: [UInt8])
    case left(user: [UInt8])
    /// The client has proven to be more than an open socket.
    case establish
    /// Count something.
    case count(SessionFigure)
    /// Say something in the log, and which fault of a token was the reason.
    case log(String, TokenFailure)
    /// End the connection.
    case close(CloseReason)
}

/// What sessions count.
enum SessionFigure {
    /// Something was refused for its rate.
    case rateLimited
    /// A client was warned that it is close to its rate.
    case rateWarned
    /// A token was refused.
    case authenticationFailed
}

/// What a session asks Redis to do, for which the caller pays.
enum SessionCost: Equatable {
    /// So many topics are joined, each perhaps with a read of its log.
    case joins(Int)
    /// The set of followed topics is read.
    case readFollows
    /// An event is published, perhaps after Redis was asked for the membership.
    case publish
}
