/// What happens to a client.
enum ClientInput: Sendable {
    case start
    case stop
    /// Other credentials; the machine asks for the token when it needs it.
    case setCredentials(Credentials)
    /// The answer to `askToken` with the same number; `nil` when the source threw.
    case token(fetch: Int, String?)
    case opened(generation: Int)
    case text(generation: Int, String)
    /// The socket's end. `code` is 0 when there was no close frame; `httpStatus` that of a refused upgrade.
    case closed(generation: Int, code: Int, httpStatus: Int?)
    case tick
    case join(topic: String, listener: Int, presence: Bool, since: Position?)
    /// The app wants the state anew.
    case resynchronise(topic: String)
    case leave(topic: String, listener: Int)
    /// Who the client says it is at a topic; `nil` ends it.
    case track(topic: String, meta: String?)
    case call(OutboxEntry, CallTerms)
    /// The caller does not wait any more.
    case cancel(ticket: Int)
    /// Takes a call back that was not sent.
    case remove(id: String)
    case loaded([OutboxEntry])
    /// The entry could not be stored.
    case unstored(id: String, String)
    case network(usable: Bool, changed: Bool)
    /// The app goes away, and may not come back.
    case suspend
    case background
    case foreground
}

/// Where tokens come from, as far as the machine has to know.
enum Credentials: Sendable, Equatable {
    case none
    case fixed(String)
    case refreshing
}

/// What a call is beside its entry.
struct CallTerms: Sendable {
    /// Names the caller who waits; 0 for nobody.
    var ticket: Int
    var timeoutMs: Int64
    var failsOffline = false
    var isKept = false
}

/// What the client's driver has to do, in this order.
enum ClientOutput: Sendable {
    /// With a token the upgrade carries it.
    case open(generation: Int, token: String?)
    case send(generation: Int, String)
    case close(generation: Int, code: Int)
    case askToken(fetch: Int, TokenReason)
    case tell(listener: Int, TopicUpdate)
    /// The listener's topic is over: refused for good, or the client was stopped (`nil`).
    case end(listener: Int, SwitchboardError?)
    case finish(ticket: Int, Result<JSONValue, SwitchboardError>)
    /// An answer to a kept call for which nobody waits.
    case result(OutboxResult)
    /// The entry is new, or has changed.
    case store(OutboxEntry)
    case forget(id: String)
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
