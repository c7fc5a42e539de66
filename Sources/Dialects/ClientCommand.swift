public import Core

/// The verbs of every dialect.
public enum ClientCommand: Equatable, Sendable {
    /// Present or refresh a token; its bytes are neither bounded nor checked here.
    ///
    /// One that is refused ends the connection.
    case authenticate(token: [UInt8])
    /// Present a token as `authenticate` does; one that is refused changes nothing, and is only answered.
    case refresh(token: [UInt8])
    /// Join topics; each is answered by itself with the request's reference. Never empty, no topic twice.
    case subscribe([SubscribeRequest])
    /// Leave topics; each is answered by itself. Never empty, no topic twice.
    case unsubscribe([Topic])
    /// Be listed among those who are here on a joined topic, or say something new of oneself.
    case track(TrackRequest)
    /// Be listed there no more.
    case untrack(Topic)
    /// Publish an event.
    case publish(PublishRequest)
    /// Run a named command; `arguments` were read with the message. The name fits ``EventName``, nothing more is
    /// known of it: a name no script bears is for the caller to answer with `not_found`.
    case command(name: String, arguments: CommandArguments)
    /// Ask for a sign of life.
    case ping
}
