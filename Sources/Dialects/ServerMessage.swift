public import Core

/// One message from the gateway to one client, in any dialect; events of topics use ``EventEncoder``.
public enum ServerMessage: Equatable, Sendable {
    /// Answer to `authenticate`: the client's user in UTF-8, and the token's end (seconds since 1970).
    case authenticated(userID: [UInt8], expiresAt: Int)
    /// Answer to one topic of `subscribe`; events after `position` follow.
    ///
    /// `recovered` is true only when every event since the client's position follows this message. `state` is the
    /// topic's present value, one JSON value, when it has one.
    case subscribed(topic: Topic, position: Position, recovered: Bool, state: [UInt8]?)
    /// Answer to one topic of `unsubscribe`.
    case unsubscribed(topic: Topic)
    /// Answer to a command: the result of its script, one JSON object.
    case ack(data: [UInt8])
    /// Answer to `publish`: the position of the event.
    case published(position: Position)
    /// Answer to `ping`.
    case pong
    /// All members present on a topic, in the form of the client's ``EventEncoder``.
    ///
    /// `nil` where the topic's namespace has no presence. Changes use ``EventEncoder``.
    case presence(topic: Topic, members: [UInt8]?)
    /// The events that a ``SubscribeRequest/replay`` asked for, oldest first; `subscribed` or an error follows.
    ///
    /// `position` is that of the newest event at the time of the read; the topic is joined after it.
    case replayed(topic: Topic, events: [ChannelMessage], position: Position)
    /// Events of the topic are missing before the next message; `position` is the log's, when known.
    case gap(topic: Topic, position: Position?, reason: GapReason)
    /// The gateway restarts; reconnect after so many milliseconds.
    case draining(reconnectAfterMs: Int)
    /// The token ends at that time (seconds since 1970); authenticate again before.
    case tokenExpiring(expiresAt: Int)
    /// The client is close to a limit and will be slowed down; `perSecond` is its allowed rate.
    case warning(code: ErrorCode, message: String, perSecond: Int)
    /// A request failed; or, without a reference, another fault that concerns the client.
    ///
    /// `code` is an ``ErrorCode`` or a script's own. `topic` is set when the error concerns one. `retryAfterMs` is set
    /// where a retry after that time may succeed.
    case error(code: String, message: String, topic: Topic?, retryAfterMs: Int? = nil)
}

extension ServerMessage {
    /// The error of a refusal.
    public static func error(_ refusal: Refusal, topic: Topic?) -> ServerMessage {
        .error(
            code: refusal.name, message: refusal.message, topic: topic, retryAfterMs: refusal.retryAfterMs)
    }

    /// Whether the message grants a client's request.
    public var isGrant: Bool {
        switch self {
        case .authenticated, .subscribed, .unsubscribed, .ack, .published, .pong: true
        case .gap, .draining, .tokenExpiring, .warning, .error, .presence, .replayed: false
        }
    }
}
