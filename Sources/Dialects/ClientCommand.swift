public import Core

/// The verbs of every dialect.
public enum ClientCommand: Equatable, Sendable {
    /// Present or refresh a token; its bytes are neither bounded nor checked here.
    ///
    /// A refused token ends the connection.
    case authenticate(token: [UInt8])
    /// Present a token as `authenticate` does; a refused token changes nothing, and only the refusal is sent.
    case refresh(token: [UInt8])
    /// Join topics; each topic has its own answer with the request's reference. Never empty, no topic twice.
    case subscribe([SubscribeRequest])
    /// Leave topics; each topic has its own answer. Never empty, no topic twice.
    case unsubscribe([Topic])
    /// Add the client to the presence list of a joined topic, or replace the client's own entry there.
    case track(TrackRequest)
    /// Remove the client from the topic's presence list.
    case untrack(Topic)
    /// Publish an event.
    case publish(PublishRequest)
    /// Run a named command; `arguments` were read with the message.
    ///
    /// The name fits ``EventName`` and is not checked further: the caller answers `not_found` for a name that no script
    /// has.
    case command(name: String, arguments: CommandArguments)
    /// Ask for a `pong`.
    case ping
}
