public import Core

/// One thing that became of a session, as a trace keeps it.
public struct TraceEntry: Equatable, Sendable {
    /// The kind of caller that opened a session.
    public enum Caller: UInt8, Sendable {
        /// A caller without credentials of its own.
        case anonymous
        /// The holder of a token.
        case user
        /// A backend with an API key.
        case service
    }

    /// The change, with what belongs to it.
    public enum Change: Equatable, Sendable {
        /// The session began at `sinceMs`; `name` is the user, or the name of the API key.
        ///
        /// It is noted again at the end of a session of some age.
        case opened(Caller, name: [UInt8], address: IPAddress?, dialect: [UInt8], sinceMs: Int)
        /// An anonymous session showed the token of a user.
        case named([UInt8])
        /// The session became a member of a topic, at the position of the answer.
        ///
        /// `since` is the position that the client asked to continue from. `isRecovered`: the events between the two
        /// were sent. `isFollowed`: its own topic follows this one.
        case subscribed(Topic, at: Position, since: Position?, isRecovered: Bool, isFollowed: Bool)
        /// The session left a topic whose events it was handed up to a position.
        case left(Topic, handed: Position?)
        /// A request to subscribe was refused.
        case refused(Topic, code: [UInt8], message: [UInt8])
        /// The right to a topic was taken away.
        case withdrawn(Topic, code: [UInt8], message: [UInt8])
        /// Newer events replaced these offsets in the queue of a slow client.
        ///
        /// `isWhole` is false when more offsets were replaced than an entry keeps; then the last range spans them.
        case conflated(Topic, epoch: [UInt8], [ClosedRange<Int>], isWhole: Bool)
        /// The members of a topic received a `gap`: the topic continues after `to`.
        ///
        /// With session 0 it concerns every session that was a member at the time.
        case gap(Topic, from: Position?, to: Position, isReset: Bool)
        /// An event that was handed to the session was not written: this one, and all later ones of its topic.
        case unsent(Topic, Position)
        /// The session publishes events that are not sent back to it; the log does not say which these are.
        case excludes
        /// A token was refused, when shown or later; the text is the raw value of the failure.
        case token([UInt8])
        /// The session ended.
        case closed(CloseReason)
        /// Further changes of the session are not kept, since it caused too many.
        case full
    }

    /// The number of the session on its shard; 0 for all members of a topic.
    public let session: UInt32
    /// When it happened, monotonic milliseconds.
    public let atMs: Int
    /// The change.
    public let change: Change

    /// The most ranges of an entry.
    public static let rangesMax = 32
    /// The most bytes of a text, such as the message of a refusal.
    public static let textBytesMax = 200

    /// Makes an entry.
    public init(session: UInt32, atMs: Int, _ change: Change) {
        self.session = session
        self.atMs = atMs
        self.change = change
    }
}

extension TraceEntry.Change {
    /// The first byte of an entry; 0 is an entry that was erased.
    enum Kind: UInt8 {
        case erased, opened, named, subscribed, left, refused, withdrawn, conflated, gap, unsent, excludes, token
        case closed, full
    }

    var kind: Kind {
        switch self {
        case .opened: .opened
        case .named: .named
        case .subscribed: .subscribed
        case .left: .left
        case .refused: .refused
        case .withdrawn: .withdrawn
        case .conflated: .conflated
        case .gap: .gap
        case .unsent: .unsent
        case .excludes: .excludes
        case .token: .token
        case .closed: .closed
        case .full: .full
        }
    }
}

extension TraceEntry.Change.Kind {
    /// Whether the content begins with a topic.
    var hasTopic: Bool {
        switch self {
        case .subscribed, .left, .refused, .withdrawn, .conflated, .gap, .unsent: true
        case .erased, .opened, .named, .excludes, .token, .closed, .full: false
        }
    }
}
