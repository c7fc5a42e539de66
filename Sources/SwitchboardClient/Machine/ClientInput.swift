/// One input of a client's state machine.
enum ClientInput: Sendable {
    /// The app wants a connection.
    case start
    /// The app wants no connection any more; calls fail until the next `start`.
    case stop
    /// New credentials; the machine asks for a token when it needs one.
    case setCredentials(Credentials)
    /// The source's answer to `askToken` with the same number; `nil` when the source threw.
    case token(fetch: Int, String?)
    /// The upgrade was accepted; here and below, an input of an older generation is ignored.
    case opened(generation: Int)
    /// The gateway sent this text frame.
    case text(generation: Int, String)
    /// The end of the socket.
    ///
    /// `code` is 0 when there was no close frame. `httpStatus` is that of a refused upgrade. `message` is the
    /// transport's, as in `SocketEvent`.
    case closed(generation: Int, code: Int, httpStatus: Int?, message: String = "")
    /// The time `wakeAtMs` has been reached.
    case tick
    /// An iterator reads a topic.
    ///
    /// `since` is a position that the app has stored, or `nil`. `wantsCurrent` rules out an earlier state with the
    /// events since.
    case join(topic: String, listener: Int, presence: Bool, since: TopicPosition?, wantsCurrent: Bool = false)
    /// The app requests the topic's state again.
    case resynchronise(topic: String)
    /// An iterator ended.
    case leave(topic: String, listener: Int)
    /// The client's presence entry at a topic; `nil` removes it.
    case track(topic: String, meta: String?)
    /// The app calls a command or publishes.
    case call(OutboxEntry, CallTerms)
    /// The caller stopped waiting.
    case cancel(ticket: Int)
    /// Withdraws a call that was not sent.
    case remove(id: String)
    /// The entries that the storage held.
    case loaded([OutboxEntry])
    /// The entry could not be stored.
    ///
    /// `isLeft`: the storage may contain it all the same, and a later process would send it.
    case unstored(id: String, String, isLeft: Bool = false)
    /// A network route appeared or disappeared; `changed` when it is a different one.
    case network(usable: Bool, changed: Bool)
    /// The app is about to be frozen, and may not return.
    case suspend
    /// The app went to the background.
    case background
    /// The app is in the foreground again.
    case foreground
}

/// The kind of token source, as far as the machine needs it.
enum Credentials: Sendable, Equatable {
    /// No token: the gateway's anonymous user.
    case none
    /// One fixed token.
    case fixed(String)
    /// A source that supplies each token on request.
    case refreshing
}

/// The terms of a call, beside its entry.
struct CallTerms: Sendable {
    /// The number of the waiting caller; 0 for none.
    var ticket: Int
    /// Milliseconds until the caller receives `.timeout`, at least 1; kept calls have no such time.
    var timeoutMs: Int64
    /// Whether the call fails at once while there is no connection.
    var failsOffline = false
    /// Whether the call stays in the outbox until it is answered or has expired.
    var isKept = false
}

/// One action for the client's driver; actions are performed in this order.
enum ClientOutput: Sendable {
    /// Open a socket; the upgrade carries the token, if there is one.
    case open(generation: Int, token: String?)
    /// Send this text on the socket.
    case send(generation: Int, String)
    /// Close the socket with this code.
    case close(generation: Int, code: Int)
    /// Ask the app's source for a token; the answer is the input `token` with the same number.
    case askToken(fetch: Int, TokenReason)
    /// Send an update of its topic to a listener.
    case tell(listener: Int, TopicUpdate)
    /// The listener's topic ended: it was refused for good, or the client was stopped (`nil`).
    case end(listener: Int, SwitchboardError?)
    /// The call of this ticket ended.
    case finish(ticket: Int, Result<JSONValue, SwitchboardError>)
    /// An answer to a kept call without a waiting caller.
    case result(OutboxResult)
    /// Store an entry that is new or has changed.
    case store(OutboxEntry)
    /// Delete the stored entry of this id.
    case forget(id: String)
    /// The client's status has changed.
    case status(ConnectionStatus)
}

/// The reason for a token request.
public enum TokenReason: String, Sendable, Hashable {
    /// For a connection.
    case first
    /// The present token ends soon.
    case expiring
    /// The gateway refused the last one.
    case refused
}
