public import Core

/// What the gateway tells one client, in any dialect; events of topics go by ``EventEncoder``.
public enum ServerMessage: Equatable, Sendable {
    /// Answer to `authenticate`: who the client is now, and until when (seconds since 1970). UTF-8 bytes.
    case authenticated(userID: [UInt8], expiresAt: Int)
    /// Answer to one topic of `subscribe`; events after `position` follow.
    ///
    /// `recovered` is true only when every event since the client's position follows this message; `state` is the
    /// topic's present value, one JSON value, when it has one.
    case subscribed(topic: Topic, position: Position, recovered: Bool, state: [UInt8]?)
    /// Answer to one topic of `unsubscribe`.
    case unsubscribed(topic: Topic)
    /// Answer to a command: what its script returned, one JSON object.
    case ack(data: [UInt8])
    /// Answer to `publish`: the position the event got.
    case published(position: Position)
    /// Answer to `ping`.
    case pong
    /// Who is here on a topic, all of them: in the words of the client's ``EventEncoder``.
    ///
    /// `nil` where the topic's namespace has no presence. Changes go by ``EventEncoder``.
    case presence(topic: Topic, members: [UInt8]?)
    /// Events of the topic are missing before whatever follows; `position` is where the log stands, when known.
    case gap(topic: Topic, position: Position?, reason: GapReason)
    /// The gateway restarts; come back after so many milliseconds.
    case draining(reconnectAfterMs: Int)
    /// The token ends at that time (seconds since 1970); authenticate anew before.
    case tokenExpiring(expiresAt: Int)
    /// The client is close to a limit and will be slowed down; `perSecond` is what it may do.
    case warning(code: ErrorCode, message: String, perSecond: Int)
    /// A request failed, or, without a reference, something else the client should know.
    ///
    /// `code` is an ``ErrorCode`` or a script's own; `topic` is set when the error concerns one; `retryAfterMs` where
    /// the same may succeed after so long.
    case error(code: String, message: String, topic: Topic?, retryAfterMs: Int? = nil)
}

extension ServerMessage {
    /// The error of a refusal.
    public static func error(_ refusal: Refusal, topic: Topic?) -> ServerMessage {
        .error(
            code: refusal.name, message: refusal.message, topic: topic, retryAfterMs: refusal.retryAfterMs)
    }

    /// Whether it grants what a client asked for.
    public var isGrant: Bool {
        switch self {
        case .authenticated, .subscribed, .unsubscribed, .ack, .published, .pong: true
        case .gap, .draining, .tokenExpiring, .warning, .error, .presence: false
        }
    }
}
