/// Server-sent events (WHATWG HTML, section 9.2): a stream of records that a browser's `EventSource` reads.
///
/// The client says everything with its one request: which topics, and the position of each. Every record's data is the
/// message that native clients get, so that both read it alike; the record's `event` is its name, its `id` tells where
/// every topic of the stream stands, and brings a client that returns with `Last-Event-ID` back to exactly there.
public struct EventStreamDialect: Dialect {
    /// The path.
    public static let path = "/v1/stream"

    private let requests: [SubscribeRequest]
    private let heartbeatMs: Int

    /// A stream of those topics, at least one, none twice; a comment is sent every `heartbeatMs`.
    public init(_ requests: [SubscribeRequest], heartbeatMs: Int) {
        self.requests = requests
        self.heartbeatMs = heartbeatMs
    }

    /// One for a stream of one topic, whose position is in the shared bytes; one for others, whose clients are each
    /// told where their own topics stand.
    public var encoders: [any EventEncoder] {
        [EventStreamEncoder(tellsPosition: true), EventStreamEncoder(tellsPosition: false)]
    }

    /// Begins a stream.
    public func converse() -> any Conversation {
        EventStreamConversation(requests, heartbeatMs: heartbeatMs)
    }
}
