import Core
import Dialects
import Rights
import Traces

/// Inputs of a session.
enum SessionInput {
    /// A decoded message of the client.
    case message(Result<ClientRequest, DialectRefusal>)
    /// The client has proven in another session to be more than an open socket.
    case proven
    /// Result of a token's check.
    ///
    /// `wallMs` is the time in milliseconds since 1970. `isRefresh`: a refused token changes nothing.
    case verified(Result<Identity, TokenFailure>, isRefresh: Bool, wallMs: Int, ref: Reference?)
    /// Redis's answer whether the user is a member of the topic.
    case membership(Topic, Result<Bool, Refusal>)
    /// Result of reading the set of followed topics; the number is that of the read.
    case follows(number: Int, Result<[Topic], Refusal>)
    /// Result of reading the events requested by time; the number is that of the read.
    case replayed(Topic, number: Int, Result<Replay, Refusal>)
    /// An event on the own topic reported that the set of followed topics has changed.
    case followsChanged
    /// Result of a publish.
    case published(Topic, Result<Position, Refusal>, ref: Reference?)
    /// Result of listing the session as present or of removing it; `isNew`: it was not listed before.
    case tracked(Topic, Result<PresenceID, Refusal>, isNew: Bool, ref: Reference?)
    /// Result of a command.
    case answered(Result<[UInt8], Refusal>, ref: Reference?)
    /// The session is live on a topic.
    case joined(Topic)
    /// A topic could not be joined.
    case joinRefused(Topic, Refusal)
    /// The right to a topic was taken away.
    case withdrawn(Topic, Refusal)
    /// The credentials of the caller are refused from now on.
    case revoked(TokenFailure)
    /// Events of the topic were missed.
    case gap(Topic, Position?, GapReason)
    /// The deadline has passed.
    case deadline
    /// The connection has ended.
    case ended
}

/// Actions that a session requests, in this order.
enum SessionAction {
    /// Send the client a message.
    case send(ServerMessage, Reference?)
    /// Check a token; the result is ``SessionInput/verified(_:isRefresh:wallMs:ref:)``.
    case verify(token: [UInt8], isRefresh: Bool, Reference?)
    /// Ask Redis whether the user is a member of the topic.
    case askMembership(Topic, user: [UInt8])
    /// Ask Redis which topics the topic follows.
    case readFollows(Topic, number: Int)
    /// Read the newest events of a topic since a time.
    case readReplay(Topic, ReplayRequest, number: Int)
    /// Join a topic for the client.
    case join(SubscribeRequest, Reference?)
    /// Join a topic because the own topic follows it.
    case follow(Topic)
    /// Leave a topic, live or joining.
    case leave(Topic)
    /// Publish an event.
    case publish(PublishRequest, Reference?)
    /// Send the client the presence of the topic from now on.
    case watch(Topic)
    /// List the session as present, for this user; `isNew`: it is not listed yet.
    case track(TrackRequest, user: [UInt8]?, isNew: Bool, Reference?)
    /// Remove the session from the presence of the topic.
    case untrack(Topic, Reference?)
    /// Run a command; `operation` is the one that its reference names.
    case run(name: String, arguments: CommandArguments, operation: OperationName?, Reference?)
    /// A connection of this user opened or closed; heartbeats keep their presence alive while connections are open.
    case came(user: [UInt8])
    case left(user: [UInt8])
    /// The client has proven to be more than an open socket.
    case establish
    /// Count something.
    case count(SessionFigure)
    /// Log a message, with the fault of the token that caused it.
    case log(String, TokenFailure)
    /// Note a change in the record.
    case note(TraceEntry.Change)
    /// End the connection.
    case close(CloseReason)
}

/// Figures that sessions count.
public enum SessionFigure {
    /// A request was refused by a rate limit.
    case rateLimited
    /// A client was warned that it is close to its rate.
    case rateWarned
    /// A token was refused.
    case authenticationFailed
    /// Redis has stored an event.
    case published
}

/// Redis operations of a session for which the caller's budget is charged.
public enum SessionCost: Equatable, Sendable {
    /// So many topics are joined, each with at most one read of its log.
    case joins(Int)
    /// The set of followed topics is read.
    case readFollows
    /// An event is published, perhaps after Redis was asked for the membership.
    case publish
}
