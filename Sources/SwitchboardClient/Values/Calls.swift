extension SwitchboardClient {
    /// The options of a call.
    public struct CallOptions: Sendable, Hashable {
        /// The treatment of a call while there is no connection.
        public enum WhenOffline: Sendable, Hashable {
            /// It fails at once with `.offline`.
            case fail
            /// It waits for the connection, until its timeout.
            case wait
            /// It is kept in the outbox and sent within so many seconds; a file storage keeps it over restarts.
            case keep(expiresAfter: Double)
        }

        /// Seconds until the caller receives `.timeout`; kept calls have their own end.
        ///
        /// Default: 60.
        public var timeout = 60.0
        /// The treatment while there is no connection; default: `.wait`.
        public var whenOffline = WhenOffline.wait
        /// The lane: calls of one lane run one after another, those of different lanes in parallel.
        ///
        /// Default: `default`.
        public var lane = "default"
        /// Whether the operation may run twice without harm.
        ///
        /// It is then also repeated when its answer is missing for longer than the gateway remembers its id. Default: no.
        public var isRepeatable = false

        /// The defaults.
        public init() {}

        /// A call that waits for a connection for so many seconds.
        ///
        /// It is kept in the outbox. Default: a day.
        public static func kept(
            expiresAfter seconds: Double = 86_400, lane: String = "default", isRepeatable: Bool = false
        )
            -> CallOptions
        {
            var options = CallOptions()
            options.whenOffline = .keep(expiresAfter: seconds)
            options.lane = lane
            options.isRepeatable = isRepeatable
            return options
        }
    }
}

/// A call that waits for its answer, in its stored form.
public struct OutboxEntry: Sendable, Hashable, Codable {
    /// The operation's id: sent with every attempt, so that the operation runs once.
    public var id: String
    /// The command's name, or `publish`.
    public var event: String
    /// The topic of a publish.
    public var topic: String?
    /// The arguments as JSON text, or a publish's event, data and id; fixed when the call is made.
    public var body: String
    /// The user of the token; empty without a token, `nil` while the user is unknown.
    public var user: String?
    /// The lane.
    public var lane: String
    /// See ``SwitchboardClient/CallOptions/isRepeatable``.
    public var isRepeatable: Bool
    /// The time at which it was made, by the wall clock, in milliseconds since 1970.
    public var createdAtMs: Int64
    /// The time after which no attempt begins, in milliseconds since 1970.
    public var expiresAtMs: Int64
    /// The time of its first attempt, in milliseconds since 1970; stored before its bytes are sent.
    public var firstSentAtMs: Int64?
}

/// An answer to a kept call without a waiting caller.
public struct OutboxResult: Sendable, Hashable {
    /// The call.
    public var entry: OutboxEntry
    /// Its answer, or the reason why there is none.
    public var result: Result<JSONValue, SwitchboardError>
}
