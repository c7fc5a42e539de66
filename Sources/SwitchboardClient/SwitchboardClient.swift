public import Foundation

/// A connection to a gateway that maintains itself.
///
/// It reconnects after every loss, resumes each topic at its position, and sends each call until it is answered. It
/// connects at its first use. Deinitialising it stops it.
public final class SwitchboardClient: Sendable {
    /// The settings of a client, beside its address.
    public struct Options: Sendable {
        /// Times and bounds.
        public var times = ClientTimes()
        /// The storage that keeps calls over restarts; without it they live as long as the client.
        public var storage: (any OutboxStorage)?
        /// Whether the upgrade carries the token, for gateways that run with `--anonymous=false`.
        ///
        /// A proxy in front may log it. Default: the first message carries it.
        public var showsTokenInUpgrade = false
        /// Receives lines about connections, for a log.
        ///
        /// The lines contain no tokens and no message contents.
        public var log: @Sendable (String) -> Void = { _ in }
        /// Receives the reason why there is no connection: each reason once, and again after there was a connection.
        ///
        /// Default: the system's log.
        public var warn: @Sendable (String) -> Void = SystemLog.say
        /// Receives failures to read or write the client's own files, and data of events that does not fit the app's
        /// types; such a line may quote the value.
        ///
        /// Default: the system's log.
        public var fault: @Sendable (String) -> Void = SystemLog.say

        /// The defaults.
        public init() {}
    }

    /// The engine that implements this class.
    let engine: Engine

    /// A client of the gateway at `url`, over the given transport.
    ///
    /// `url` is e.g. `wss://gateway.example/ws`; `https://` means the same.
    public init(
        url: URL, token: TokenSource = .none, options: Options = Options(), transport: any SwitchboardTransport
    ) {
        engine = Engine(url, token, options, transport)
    }

    deinit { engine.stop() }

    /// Connects, and stays connected until `stop()`.
    ///
    /// The first use of a client that was not stopped does the same.
    public func start() { engine.start() }

    /// Closes the connection, ends every sequence, and fails the calls with waiting callers with `.stopped`.
    ///
    /// Kept calls stay in the outbox.
    public func stop() { engine.stop() }

    /// Sets other credentials.
    ///
    /// Another user gets a new connection, fresh topics and its own kept calls; the former user's calls wait until that
    /// user returns. A fixed token of the same user is sent on the open connection.
    public func setToken(_ source: TokenSource) {
        engine.state.with { $0.source = source }
        engine.take(.setCredentials(source.credentials))
    }

    /// The status of the connection: now, and at each change.
    ///
    /// A slow reader sees the newest only.
    public var status: StatusUpdates { StatusUpdates(engine: engine) }

    /// The present status of the connection.
    public var currentStatus: ConnectionStatus { engine.state.with { $0.machine.status } }

    /// All updates of a topic, in order.
    ///
    /// The client subscribes for the first iterator, and leaves the topic two seconds after the end of the last one.
    ///
    /// - Parameters:
    ///   - topic: the topic, such as `shop:42`.
    ///   - since: the position that the app has stored, to receive exactly the events after it.
    public func events(of topic: String, since: TopicPosition? = nil) -> TopicUpdates {
        updates(of: topic, since: since, presence: false)
    }

    /// All updates of a topic, with the members present if they are wanted.
    func updates(of topic: String, since: TopicPosition?, presence: Bool) -> TopicUpdates {
        TopicUpdates(engine: engine, topic: topic, since: since, wantsPresence: presence)
    }

    /// Requests a topic's state once more; every iterator of the topic receives `live` with it.
    public func resynchronise(_ topic: String) { engine.take(.resynchronise(topic: topic)) }

    /// The state of a topic, for namespaces that have one.
    ///
    /// A client that reads the topic already gives the last state, unless an event has come since: it asks the gateway
    /// only then. That state lacks an event that is still on its way, also one of a call that was answered.
    public func state<State: Decodable>(of topic: String, as type: State.Type = State.self)
        async throws(SwitchboardError) -> State
    {
        var hasAsked = false
        var updates = events(of: topic)
        updates.wantsCurrent = true
        do {
            for try await update in updates {
                guard case .live(let state, _, _) = update else { continue }
                if let state { return try state.decode(type) }
                if hasAsked { throw SwitchboardError(.undecodable, "\(topic) has no state.") }
                // The topic may have been resumed, without a state.
                hasAsked = true
                resynchronise(topic)
            }
        } catch {
            throw error as? SwitchboardError ?? SwitchboardError(.cancelled)
        }
        throw SwitchboardError(Task.isCancelled ? .cancelled : .stopped)
    }

    /// The members present at a topic: the full list, again after each change.
    ///
    /// For namespaces with presence.
    public func presence(of topic: String) -> PresenceUpdates {
        PresenceUpdates(updates: updates(of: topic, since: nil, presence: true))
    }

    /// Lists this client at a topic, and again after each reconnect.
    ///
    /// `meta` is the content of its entry.
    public func track(_ topic: String, meta: some Encodable) throws(SwitchboardError) {
        let text = try JSONValue.encode(meta)
        guard TopicState.isName(topic) else {
            throw SwitchboardError(.server("bad_request"), "There can be no topic of this name.")
        }
        // The gateway would close the connection, and the next one, on which the same message is sent.
        guard text.utf8.count + topic.utf8.count + 256 <= engine.options.times.messageBytesMax else {
            throw SwitchboardError(.tooLarge, "The message is too long.")
        }
        engine.startOnUse()
        engine.take(.track(topic: topic, meta: text))
    }

    /// Removes this client from the list.
    public func untrack(_ topic: String) { engine.take(.track(topic: topic, meta: nil)) }

    /// Runs a command, and returns its answer.
    ///
    /// It is sent under one `id` until it is answered, refused or too old.
    public func call<Answer: Decodable & Sendable>(
        _ name: String, _ arguments: some Encodable & Sendable, id: String = SwitchboardClient.newID(),
        options: CallOptions = CallOptions(), returning type: Answer.Type = Answer.self
    ) async throws(SwitchboardError) -> Answer {
        try await engine.call(name, nil, try JSONValue.encode(arguments), id, options).decode(type)
    }

    /// Runs a command and waits for its answer, without returning it.
    public func call(
        _ name: String, _ arguments: some Encodable & Sendable, id: String = SwitchboardClient.newID(),
        options: CallOptions = CallOptions()
    ) async throws(SwitchboardError) {
        _ = try await engine.call(name, nil, try JSONValue.encode(arguments), id, options)
    }

    /// Publishes an event, and returns its position.
    @discardableResult
    public func publish(
        _ event: String, _ data: some Encodable & Sendable, to topic: String, id: String = SwitchboardClient.newID(),
        options: CallOptions = CallOptions()
    ) async throws(SwitchboardError) -> TopicPosition? {
        let said = try JSONValue.encode(data)
        let body = #"{"event":\#(JSONValue.quoted(event)),"data":\#(said),"id":\#(JSONValue.quoted(id))}"#
        return TopicPosition(try await engine.call("publish", topic, body, id, options))
    }

    /// The calls without an answer, in their order.
    public var pendingCalls: [OutboxEntry] { engine.state.with { $0.machine.calls.map(\.entry) } }

    /// Withdraws a call that was not sent yet.
    public func removeCall(_ id: String) { engine.take(.remove(id: id)) }

    /// Answers to kept calls without a waiting caller, such as those from before a restart.
    public var outboxResults: OutboxResults { OutboxResults(engine: engine) }

    /// Tell the client when a network route appeared or disappeared, as reported by `NWPathMonitor`.
    ///
    /// It is a hint: the client never waits for a route.
    public func networkChanged(isUsable: Bool, isAnother: Bool = true) {
        engine.take(.network(usable: isUsable, changed: isAnother))
    }

    /// Tell the client when the app goes to the background, as reported by `scenePhase`.
    ///
    /// The connection stays. `pauseInBackground` ends it before the system freezes the app.
    public func enteredBackground() { engine.take(.background) }

    /// Tell the client that the app is to be frozen for long: the connection ends, and calls wait.
    ///
    /// `enteredForeground` resumes.
    public func suspend() { engine.take(.suspend) }

    /// Tell the client when the app is in the foreground again: the connection is checked, or replaced.
    ///
    /// Each topic resumes at its position.
    public func enteredForeground() { engine.take(.foreground) }

    /// A new unique name for an operation.
    public static func newID() -> String { UUID().uuidString.lowercased() }
}
