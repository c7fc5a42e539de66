/// Server-sent events (WHATWG HTML, section 9.2): a stream of records that a browser's `EventSource` reads.
///
/// The client sends one request, with its topics and the position of each. Every record's data is the message that
/// native clients receive, so both read it alike. The record's `event` is its name. Its `id` holds the position of
/// every topic of the stream. A client that returns with `Last-Event-ID` resumes exactly there.
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

    /// The encoder for a stream of one topic, then the one for several topics.
    ///
    /// The position of one topic is in the shared bytes. Each client of a stream of several topics receives its own
    /// positions.
    public var encoders: [any EventEncoder] {
        [EventStreamEncoder(tellsPosition: true), EventStreamEncoder(tellsPosition: false)]
    }

    /// Begins a stream.
    public func converse() -> any DialectMachine {
        EventStreamMachine(requests, heartbeatMs: heartbeatMs)
    }
}
