public import Core

/// One event stream: it joins the topics of its request and sends their events; the client sends nothing more.
public struct EventStreamMachine: DialectMachine {
    private let topics: [Topic]
    private let requests: [SubscribeRequest]
    private var positions: EventStreamPositions
    /// The number of topics that the client has, or whose join is pending.
    private var alive: Int
    private let heartbeatMs: Int
    /// The time at which the next comment is due, monotonic milliseconds.
    public private(set) var deadlineMs = Int.max

    /// Milliseconds after which a client whose connection was lost reconnects, unless the gateway sends another time.
    private static let retryMs = 2_000
    /// The shortest time sent to clients, so that they do not retry in a tight loop while something is unavailable.
    private static let retryMsMin = 1_000

    init(_ requests: [SubscribeRequest], heartbeatMs: Int) {
        self.requests = requests
        topics = requests.map(\.topic)
        positions = EventStreamPositions(requests)
        alive = requests.count
        self.heartbeatMs = heartbeatMs
    }

    /// Sends the time to reconnect, so that proxies pass the head on, and joins the topics.
    public mutating func began(nowMs: Int, _ steps: inout [DialectStep]) {
        deadlineMs = nowMs + heartbeatMs
        say(EventStreamMachine.retry(EventStreamMachine.retryMs), &steps)
        steps.append(.open(.main, token: nil))
        steps.append(.request(.main, .success(ClientRequest(command: .subscribe(requests), ref: nil))))
    }

    /// Closes the connection: a client of a stream sends nothing.
    public mutating func received(
        _ message: [UInt8], as kind: MessageKind, nowMs: Int, _ steps: inout [DialectStep]
    ) {
        steps.append(.close(.badRequest))
    }

    /// Sends the message as a record named like the native message.
    public mutating func send(
        _ message: ServerMessage, at sessionID: SessionID, ref: Reference?, _ steps: inout [DialectStep]
    ) {
        switch message {
        case .subscribed(let topic, let position, let recovered, _):
            // The missed events follow: until they are sent, the client's position does not move.
            if !recovered { move(topic, to: position) }
            record("subscribed", message, tellsPositions: true, &steps)
        case .gap(let topic, let position, _):
            if let position { move(topic, to: position) }
            record("gap", message, tellsPositions: position != nil, &steps)
        case .unsubscribed:
            record("unsubscribed", message, &steps)
            topicEnds(&steps)
        case .error(_, _, let topic, _):
            // Browsers use `error` for the end of a stream.
            record("refused", message, &steps)
            if topic != nil { topicEnds(&steps) }
        case .draining(let reconnectAfterMs):
            // A browser uses it for every try from now on, until a stream begins again.
            say(EventStreamMachine.retry(EventStreamMachine.retryMsMin + reconnectAfterMs), &steps)
            record("draining", message, &steps)
        case .tokenExpiring:
            record("token:expiring", message, &steps)
        case .warning:
            record("warning", message, &steps)
        case .authenticated, .ack, .published, .pong, .presence, .replayed:
            break
        }
    }

    /// Sends a comment, so that the client sees that the stream is alive.
    public mutating func deadlineReached(nowMs: Int, _ steps: inout [DialectStep]) {
        deadlineMs = nowMs + heartbeatMs
        say(Array(": here\n\n".utf8), &steps)
    }

    /// The encoder without positions for a stream of several topics, whose clients each receive their own positions.
    public func encoder(of sessionID: SessionID) -> Int { topics.count == 1 ? 0 : 1 }

    /// Whether the client of a stream of several topics receives their positions with each event.
    public var isDecorating: Bool { topics.count > 1 }

    /// The field `id` of the record that follows.
    public mutating func decorate(
        _ topic: Topic, _ position: Position, at sessionID: SessionID, _ units: () -> [WireUnit]
    ) -> EventDecoration? {
        move(topic, to: position)
        var text: [UInt8] = []
        EventStreamRecord.append(id: positions.text, to: &text)
        return .before(WireUnit(.text, text))
    }

    // MARK: Words

    private mutating func move(_ topic: Topic, to position: Position) {
        if let index = topics.firstIndex(of: topic) { positions.set(index, position) }
    }

    /// Sends the native message as a record.
    ///
    /// `tellsPositions`: the message itself has moved a position. The positions stored here are older where events
    /// carry their own.
    private func record(
        _ event: String, _ message: ServerMessage, tellsPositions: Bool = false, _ steps: inout [DialectStep]
    ) {
        let data = NativeEncoder.encode(message, ref: nil)
        let id = tellsPositions || isDecorating ? positions.text : nil
        say(EventStreamRecord.bytes(event: Array(event.utf8), id: id, data: data), &steps)
    }

    /// Ends a stream without topics.
    private mutating func topicEnds(_ steps: inout [DialectStep]) {
        alive -= 1
        if alive == 0 { steps.append(.close(.forbidden)) }
    }

    private func say(_ bytes: [UInt8], _ steps: inout [DialectStep]) {
        steps.append(.say(WireUnit(.text, bytes)))
    }

    private static func retry(_ ms: Int) -> [UInt8] { Array("retry: \(ms)\n\n".utf8) }
}
