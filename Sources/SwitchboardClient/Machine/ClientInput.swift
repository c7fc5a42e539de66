/// What happens to a client.
enum ClientInput: Sendable {
    /// The app wants a connection.
    case start
    /// The app wants none any more; calls fail until the next `start`.
    case stop
    /// Other credentials; the machine asks for the token when it needs it.
    case setCredentials(Credentials)
    /// The answer to `askToken` with the same number; `nil` when the source threw.
    case token(fetch: Int, String?)
    /// The upgrade was accepted; an older generation is not heard, here and below.
    case opened(generation: Int)
    /// The gateway said this, in one text frame.
    case text(generation: Int, String)
    /// The socket's end. `code` is 0 when there was no close frame; `httpStatus` that of a refused upgrade. `message` is
    /// the transport's, as in `SocketEvent`.
    case closed(generation: Int, code: Int, httpStatus: Int?, message: String = "")
    /// The time of `wakeAtMs` has come.
    case tick
    /// An iterator reads a topic, from a position that the app has kept where `since` is one. With `wantsCurrent` an
    /// earlier state with the events since will not do.
    case join(topic: String, listener: Int, presence: Bool, since: Position?, wantsCurrent: Bool = false)
    /// The app wants the state anew.
    case resynchronise(topic: String)
    /// An iterator is gone.
    case leave(topic: String, listener: Int)
    /// Who the client says it is at a topic; `nil` ends it.
    case track(topic: String, meta: String?)
    /// The app calls a command or publishes.
    case call(OutboxEntry, CallTerms)
    /// The caller does not wait any more.
    case cancel(ticket: Int)
    /// Takes a call back that was not sent.
    case remove(id: String)
    /// What the storage held.
    case loaded([OutboxEntry])
    /// The entry could not be stored. `isLeft`: the storage may have it all the same, for a later process to send.
    case unstored(id: String, String, isLeft: Bool = false)
    /// A route came or went; `changed` when it is another one than before.
    case network(usable: Bool, changed: Bool)
    /// The app goes away, and may not come back.
    case suspend
    /// The app is out of sight.
    case background
    /// The app is in sight again.
    case foreground
}

/// Where tokens come from, as far as the machine has to know.
enum Credentials: Sendable, Equatable {
    /// No token: the gateway's anonymous user.
    case none
    /// This token for ever.
    case fixed(String)
    /// A source that is asked for each token.
    case refreshing
}

/// What a call is beside its entry.
struct CallTerms: Sendable {
    /// Names the caller who waits; 0 for nobody.
    var ticket: Int
    /// Milliseconds until the caller is told, at least 1; kept calls have none.
    var timeoutMs: Int64
    /// Whether it fails at once while there is no connection.
    var failsOffline = false
    /// Whether it lives in the outbox until it is answered or has expired.
    var isKept = false
}

/// What the client's driver has to do, in this order.
enum ClientOutput: Sendable {
    /// With a token the upgrade carries it.
    case open(generation: Int, token: String?)
    /// Say this on the socket.
    case send(generation: Int, String)
    /// End the socket with this code.
    case close(generation: Int, code: Int)
    /// Ask the app's source for a token; the answer comes as `token` with the same number.
    case askToken(fetch: Int, TokenReason)
    /// Tell a listener something of its topic.
    case tell(listener: Int, TopicUpdate)
    /// The listener's topic is over: refused for good, or the client was stopped (`nil`).
    case end(listener: Int, SwitchboardError?)
    /// The call of this ticket is over.
    case finish(ticket: Int, Result<JSONValue, SwitchboardError>)
    /// An answer to a kept call for which nobody waits.
    case result(OutboxResult)
    /// The entry is new, or has changed.
    case store(OutboxEntry)
    /// The stored entry of this id is over.
    case forget(id: String)
    /// The client's status is another one.
    case status(Status)
}

/// Why a token is asked for.
public enum TokenReason: String, Sendable, Hashable {
    /// For a connection.
    case first
    /// The present one ends soon.
    case expiring
    /// The gateway refused the last one.
    case refused
}
