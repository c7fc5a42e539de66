/// How a call is treated.
public struct CallOptions: Sendable, Hashable {
    /// What happens to a call while there is no connection.
    public enum WhenOffline: Sendable, Hashable {
        /// It fails at once with `.offline`.
        case fail
        /// It waits for the connection, until its timeout.
        case wait
        /// It is kept in the outbox, over restarts where the storage is a file, and sent within so many seconds.
        case keep(expiresAfter: Double)
    }

    /// Seconds until the caller is told; kept calls have their own end.
    ///
    /// Default: 60.
    public var timeout = 60.0
    /// Default: `.wait`.
    public var whenOffline = WhenOffline.wait
    /// Calls of one lane go one after another, those of different lanes side by side.
    ///
    /// Default: `default`.
    public var lane = "default"
    /// Whether doing it twice does no harm.
    ///
    /// Then it is also sent again when its answer is out for longer than the gateway remembers its id. Default: no.
    public var isRepeatable = false

    /// The defaults.
    public init() {}

    /// A call that outlives a missing connection by so many seconds.
    ///
    /// Default: a day.
    public static func kept(expiresAfter seconds: Double = 86_400, lane: String = "default", isRepeatable: Bool = false)
        -> CallOptions
    {
        var options = CallOptions()
        options.whenOffline = .keep(expiresAfter: seconds)
        options.lane = lane
        options.isRepeatable = isRepeatable
        return options
    }
}

/// A call that waits for its answer, as it is stored.
public struct OutboxEntry: Sendable, Hashable, Codable {
    /// The operation's name: sent with every attempt, so that it is done once.
    public var id: String
    /// The command's name, or `publish`.
    public var event: String
    /// The topic of a publish.
    public var topic: String?
    /// The arguments as JSON text, or what a publish says: fixed when the call is made.
    public var body: String
    /// Whose call it is: the user of the token, empty without a token, `nil` while nobody knows.
    public var user: String?
    /// The lane.
    public var lane: String
    /// See `CallOptions`.
    public var isRepeatable: Bool
    /// When it was made and when it ends, by the wall clock, in milliseconds since 1970.
    public var createdAtMs: Int64
    /// No attempt begins after this.
    public var expiresAtMs: Int64
    /// When its first attempt began; stored before its bytes leave.
    public var firstSentAtMs: Int64?
}

/// An answer to a kept call that nobody awaits any more.
public struct OutboxResult: Sendable, Hashable {
    /// The call.
    public var entry: OutboxEntry
    /// Its answer, or why there is none.
    public var result: Result<JSONValue, SwitchboardError>
}
