public import Foundation

/// A connection to a gateway that keeps itself: it comes back after every cut, resumes each topic where it was, and sends
/// each call until it is answered.
///
/// It connects at its first use. Deinitialising it stops it.
public final class SwitchboardClient: Sendable {
    /// What a client may be told beside its address.
    public struct Options: Sendable {
        /// Times and bounds.
        public var times = ClientTimes()
        /// Where calls that are kept live over restarts; without it they live as long as the client.
        public var storage: (any OutboxStorage)?
        /// Whether the upgrade carries the token, for gateways that run with `--anonymous=false`.
        ///
        /// A proxy in front may log it. Default: the first message carries it.
        public var showsTokenInUpgrade = false
        /// Hears what happens to connections, for a log.
        ///
        /// It is told no token and nothing that was said.
        public var log: @Sendable (String) -> Void = { _ in }
        /// Hears why there is no connection: each reason once, and again after there was a connection.
        ///
        /// Default: the system's log.
        public var warn: @Sendable (String) -> Void = SystemLog.say
        /// Hears what the client could not do about its own files.
        ///
        /// Default: the system's log.
        public var fault: @Sendable (String) -> Void = SystemLog.say

        /// The defaults.
        public init() {}
    }

    /// Does everything that this class offers.
    let engine: Engine

    /// A client of the gateway at `url`, e.g.
    ///
    /// `wss://gateway.example/ws`, over the given transport. `https://` means the same.
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

    /// Closes the connection, ends every sequence, and fails the calls that somebody waits for with `.stopped`.
    ///
    /// Kept calls stay in the outbox.
    public func stop() { engine.stop() }

    /// Other credentials.
    ///
    /// Another user gets a new connection, fresh topics and its own kept calls; those of the user before wait until
    /// that user is back. A fixed token of the same user is shown on the open connection.
    public func setToken(_ source: TokenSource) {
        engine.state.with { $0.source = source }
        engine.take(.setCredentials(source.credentials))
    }

    /// How the connection stands: now, and at each change.
    ///
    /// A slow reader sees the newest only.
    public var status: StatusUpdates { StatusUpdates(engine: engine) }

    /// How the connection stands now.
    public var currentStatus: Status { engine.state.with { $0.machine.status } }

    /// Everything that a topic tells, in order.
    ///
    /// The client subscribes when the first iterator asks, and leaves the topic two seconds after the last one is
    /// gone.
    ///
    /// - Parameter since: the position that the app has kept, to get exactly the events after it.
    public func events(of topic: String, since: Position? = nil) -> TopicUpdates {
        TopicUpdates(engine: engine, topic: topic, since: since, wantsPresence: false)
    }

    /// Asks the gateway for a topic's state once more; every iterator of the topic is told `live` with it.
    public func resynchronise(_ topic: String) { engine.take(.resynchronise(topic: topic)) }

    /// The state of a topic as it is now, for namespaces that have one.
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
                // It may have been resumed, without a state.
                hasAsked = true
                resynchronise(topic)
            }
        } catch let error as SwitchboardError {
            throw error
        } catch {
            throw SwitchboardError(.cancelled)
        }
        throw SwitchboardError(Task.isCancelled ? .cancelled : .stopped)
    }

    /// Who is at a topic: everybody, again after each change.
    ///
    /// For namespaces with presence.
    public func presence(of topic: String) -> PresenceUpdates {
        PresenceUpdates(updates: TopicUpdates(engine: engine, topic: topic, since: nil, wantsPresence: true))
    }

    /// Lists this client at a topic, and again after each cut.
    ///
    /// `meta` is what it says of itself.
    public func track(_ topic: String, meta: some Encodable) throws(SwitchboardError) {
        let text = try JSONValue.encode(meta)
        guard TopicState.isName(topic) else {
            throw SwitchboardError(.server("bad_request"), "There can be no topic of this name.")
        }
        // The gateway would end the connection, and the next one, which says the same.
        guard text.utf8.count + topic.utf8.count + 256 <= engine.options.times.messageBytesMax else {
            throw SwitchboardError(.tooLarge, "The message is too long.")
        }
        engine.startOnUse()
        engine.take(.track(topic: topic, meta: text))
    }

    /// Takes this client off the list.
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

    /// Runs a command whose answer does not matter beyond that it came.
    public func call(
        _ name: String, _ arguments: some Encodable & Sendable, id: String = SwitchboardClient.newID(),
        options: CallOptions = CallOptions()
    ) async throws(SwitchboardError) {
        _ = try await engine.call(name, nil, try JSONValue.encode(arguments), id, options)
    }

    /// Publishes an event, and returns where it stands.
    @discardableResult
    public func publish(
        _ event: String, _ data: some Encodable & Sendable, to topic: String, id: String = SwitchboardClient.newID(),
        options: CallOptions = CallOptions()
    ) async throws(SwitchboardError) -> Position? {
        let said = try JSONValue.encode(data)
        let body = #"{"event":\#(JSONValue.quoted(event)),"data":\#(said),"id":\#(JSONValue.quoted(id))}"#
        return Position(try await engine.call("publish", topic, body, id, options))
    }

    /// The calls without an answer, in their order.
    public var pendingCalls: [OutboxEntry] { engine.state.with { $0.machine.calls.map(\.entry) } }

    /// Takes back a call that was not sent yet.
    public func removeCall(_ id: String) { engine.take(.remove(id: id)) }

    /// Answers to kept calls for which nobody waits, such as those from before a restart.
    public var outboxResults: OutboxResults { OutboxResults(engine: engine) }

    /// Tell the client when a route came or went, as `NWPathMonitor` says: a hint, since the client never waits for a route.
    public func networkChanged(isUsable: Bool, isAnother: Bool = true) {
        engine.take(.network(usable: isUsable, changed: isAnother))
    }

    /// Tell the client when the app goes to the background, as `scenePhase` says.
    public func enteredBackground() { engine.take(.background) }

    /// Tell the client that the app is to be frozen for long: the connection ends, and calls wait.
    ///
    /// `enteredForeground` goes on.
    public func suspend() { engine.take(.suspend) }

    /// Tell the client when the app is back: the connection is proven, or made anew.
    public func enteredForeground() { engine.take(.foreground) }

    /// A name for an operation that is like no other.
    public static func newID() -> String { UUID().uuidString.lowercased() }
}
