/// All of a client's logic, as a value: its input is an event and the time, its output the actions to perform.
///
/// It has no socket, clock or lock, and its only randomness is that of its seed, so tests replay whole histories at
/// once. Times are milliseconds of a clock that keeps running while the device sleeps.
struct ClientMachine: Sendable {
    /// The phase of the connection.
    ///
    /// Its time is the one at which the phase times out.
    enum Phase: Sendable, Equatable {
        /// Not started, or stopped.
        case stopped
        /// Without a token there is nothing to do; a topic or a call dials.
        case idle
        /// The source was asked for a token.
        case asking
        /// A pause before the next attempt.
        case waiting(untilMs: Int64)
        /// A socket is being opened.
        case connecting(untilMs: Int64)
        /// The token was sent, and has no answer.
        case authenticating(untilMs: Int64)
        /// Topics and calls are sent and received.
        case ready
        /// No token is accepted; other credentials restart the client.
        case unauthorized
        /// The app is frozen; the client does not dial before the app returns.
        case suspended
    }

    /// The times and limits, which never change.
    let times: ClientTimes
    /// Whether the upgrade carries the token, for gateways that open nothing without one.
    let showsTokenInUpgrade: Bool
    /// The source of every random pause.
    var dice: Dice
    /// The time of the last input, in milliseconds of a clock that never goes back.
    var nowMs: Int64 = 0
    /// The date at the last input, in milliseconds since 1970; it may go back.
    var wallMs: Int64 = 0
    /// The actions that the present input has caused so far.
    var outputs: [ClientOutput] = []

    /// The phase of the connection.
    var phase = Phase.stopped
    /// The number of the present socket; input from an older one is ignored.
    var generation = 0
    /// Whether the present socket was opened.
    var isOpen = false
    /// Pauses since a connection was last ready for `stableMs`, 30 at most.
    var attempt = 0
    /// The time at which the connection was last ready; valid in phase `ready`.
    var readySinceMs: Int64 = 0
    /// The time of the gateway's last message.
    var lastHeardMs: Int64 = 0
    /// The time at which an unanswered ping ends the connection; `nil` without one.
    var pongUntilMs: Int64?
    /// The number of pings; numbers their `ref`s.
    var pings = 0
    /// The time at which to leave, from `draining`.
    var leaveAtMs: Int64?
    /// The end of the last connection, for the status.
    var lastClose: ConnectionStatus.Close?
    /// The reason why there is no connection, for the status.
    var reason: ConnectionStatus.Reason?
    /// The time at which the last socket was opened; long ago before the first.
    var dialledAtMs = Int64.min / 2
    /// The time until which calls are sent at half the rate.
    var slowUntilMs: Int64 = 0
    /// `true` after `stop`, when calls fail; before the first `start` they wait.
    var isHalted = false
    /// The `ref` of the token without an answer.
    var authRef: String?
    /// Whether the device reports a route; shown in the status, without other effect.
    var isNetworkUsable = true
    /// The time at which the app went to the background; `nil` in the foreground.
    var backgroundAtMs: Int64?
    /// The time at which a hint about routes last took effect; at most one a second does.
    var hintedAtMs = Int64.min / 2

    /// The kind of token source.
    var credentials = Credentials.none
    /// The number of `setCredentials`; a call of an unknown user is sent only under the credentials it was made with.
    var credentialsNumber = 0
    /// The token that was sent last, or is sent next; `nil` without one.
    var token: HeldToken?
    /// Refused tokens since a connection was last ready; the second one ends the attempts, of a fixed token the first.
    var refusals = 0
    /// The number of the present or last token request.
    var fetch: Int?
    /// The number of token requests.
    var fetches = 0
    /// The socket for which the token was requested; a token that is late for it waits for the next need.
    var fetchGeneration = 0
    /// A token that was late for the connection it was requested for.
    var spare: String?
    /// The time of the next token request after the source threw on an open connection.
    var fetchAgainAtMs: Int64?
    /// The time at which the gateway's last report of a token's end took effect; long ago before the first.
    var expiringAtMs = Int64.min / 2
    /// The number of times in a row that the source threw, 20 at most.
    var fetchFailures = 0
    /// The user, once known from the token or the gateway.
    var userID: String?

    /// The topics with readers, and those just left, by name.
    var topics: [String: TopicState] = [:]
    /// The topics in the order in which they were first read.
    var topicOrder: [String] = []
    /// Whether topics may have something to do since the last input; the delivery of an event does not set it.
    var topicsChanged = true
    /// The next time at which a topic has something to do if nothing changes; the largest number for never.
    var topicsDueMs = Int64.max
    /// The rate of subscribes; full on each new connection.
    var joins: TokenBucket
    /// The number of requests beside calls and pings; numbers their `ref`s.
    var asks = 0

    /// The calls without an answer, in their order; `callsMax` at most, plus those that the storage held.
    var calls: [CallState] = []
    /// The rate of calls.
    var callRate: TokenBucket
    /// The time before which no call is sent, since the gateway answered `rate_limited`.
    var callsRestUntilMs: Int64 = 0
    /// The status as it was last reported.
    var lastStatus = ConnectionStatus()

    /// A machine that waits for `start`; equal seeds and inputs give equal outputs.
    init(times: ClientTimes, seed: UInt64, credentials: Credentials = .none, showsTokenInUpgrade: Bool = false) {
        self.showsTokenInUpgrade = showsTokenInUpgrade
        let times = times.bounded
        self.times = times
        self.credentials = credentials
        dice = Dice(state: seed)
        joins = TokenBucket(atOnce: times.joinsAtOnce, perSecond: times.joinsPerSecond, nowMs: 0)
        callRate = TokenBucket(atOnce: times.callsAtOnce, perSecond: times.callsPerSecond, nowMs: 0)
    }

    /// Takes one input at its time, and returns the actions in their order.
    mutating func take(_ input: ClientInput, nowMs: Int64, wallMs: Int64) -> [ClientOutput] {
        self.nowMs = max(self.nowMs, nowMs)
        self.wallMs = wallMs
        if case .text = input {} else { topicsChanged = true }
        // After a long sleep, due timers run first: an input must not use a connection that has ended.
        runTimers()
        handle(input)
        runTimers()
        flush()
        if mustLookAtTopics {
            topicsDueMs = topicWakes.min() ?? .max
            topicsChanged = false
        }
        let status = self.status
        if status != lastStatus {
            lastStatus = status
            outputs.append(.status(status))
        }
        defer { outputs = [] }
        return outputs
    }

    private mutating func handle(_ input: ClientInput) {
        switch input {
        case .start: start()
        case .stop: stop()
        case .setCredentials(let credentials): change(to: credentials)
        case .token(let fetch, let token): fetched(fetch, token)
        case .opened(let generation): if generation == self.generation { opened() }
        case .text(let generation, let text): if generation == self.generation, isOpen { heard(text) }
        case .closed(let generation, let code, let httpStatus, let message):
            if generation == self.generation { closed(code: code, httpStatus: httpStatus, message: message) }
        case .tick: break
        case .join(let topic, let listener, let presence, let since, let wantsCurrent):
            join(topic, listener, presence, since, wantsCurrent: wantsCurrent)
        case .leave(let topic, let listener): leave(topic, listener)
        case .track(let topic, let meta): track(topic, meta)
        case .call(let entry, let terms): call(entry, terms)
        case .cancel(let ticket): cancel(ticket)
        case .remove(let id): remove(id)
        case .loaded(let entries): loaded(entries)
        case .resynchronise(let topic): resynchronise(topic)
        case .unstored(let id, let message, let isLeft): unstored(id, message, isLeft: isLeft)
        case .network(let usable, let changed): network(usable, changed)
        case .suspend: suspend()
        case .background: backgroundAtMs = nowMs
        case .foreground: foreground()
        }
    }

    /// Sends everything that may be sent now.
    private mutating func flush() {
        if phase == .idle, hasWork { dial() }
        guard phase == .ready else { return }
        flushTopics()
        flushCalls()
    }

    /// Whether the topics have to be iterated: with many of them that costs more than an event.
    var mustLookAtTopics: Bool { topicsChanged || nowMs >= topicsDueMs }

    /// Whether there is a reason for a connection without a token.
    var hasWork: Bool { !topics.isEmpty || !calls.isEmpty }

    /// The present status.
    var status: ConnectionStatus {
        var status = ConnectionStatus()
        status.phase =
            switch phase {
            case .stopped: .stopped
            case .idle: .idle
            case .asking: .asking
            case .waiting: .waiting
            case .connecting: .connecting
            case .authenticating: .authenticating
            case .ready: leaveAtMs == nil ? .open : .draining
            case .unauthorized: .unauthorized
            case .suspended: .suspended
            }
        status.attempt = attempt
        status.userID = userID
        status.pendingCalls = calls.count
        status.lastClose = lastClose
        status.reason = reason
        status.isNetworkUsable = isNetworkUsable
        return status
    }

    /// Sends a text on the present socket.
    mutating func send(_ text: String) { outputs.append(.send(generation: generation, text)) }

    // MARK: Messages

    private mutating func heard(_ text: String) {
        lastHeardMs = nowMs
        // Any message proves that the gateway is alive.
        pongUntilMs = nil
        guard let frame = Frame(text) else { return }
        switch frame.event {
        case "pong", "warning": return
        case "ack": return answered(frame, .success(frame.data))
        case "authenticated", "token:expiring", "draining", "subscribed", "unsubscribed", "presence", "gap", "error":
            topicsChanged = true
            control(frame)
        default: event(frame)
        }
    }

    /// Handles a message about the connection or a topic, or the answer to a request.
    private mutating func control(_ frame: Frame) {
        switch frame.event {
        case "authenticated": if let ref = frame.ref, ref == authRef { authenticated(frame.data) }
        case "token:expiring": tokenExpiring()
        case "draining": drain(afterMs: clamped(frame.data["reconnectAfterMs"]) ?? 1_000)
        case "subscribed": subscribed(frame)
        case "unsubscribed": unsubscribed(frame)
        case "presence": presence(frame)
        case "gap": gap(frame)
        default: failed(frame)
        }
    }

    private mutating func failed(_ frame: Frame) {
        let error = SwitchboardError(server: frame.data)
        switch frame.ref?.first {
        case "!":
            if frame.ref?.hasPrefix("!s") == true { refused(frame, error) }
            if frame.ref == authRef { tokenRefused(error) }
        case nil: if frame.topic != nil { refused(frame, error) }
        default: answered(frame, .failure(error))
        }
    }
}

/// A message from the gateway.
struct Frame {
    /// The event's name.
    var event: String
    /// The topic; for an error also where only its data names it.
    var topic: String?
    /// The `ref` of the request that it answers.
    var ref: String?
    /// The message's data; `null` where it has none.
    var data: JSONValue
    /// The event's offset in its topic, from 0; `nil` without one.
    var offset: Int64?

    /// Reads a text; `nil` when it is no message of the protocol.
    init?(_ text: String) {
        guard let value = JSONReader.read(text), let event = value["event"]?.string else { return nil }
        self.event = event
        data = value["data"] ?? .null
        topic = value["topic"]?.string ?? (event == "error" ? data["topic"]?.string : nil)
        ref = value["ref"].map { $0.string ?? $0.text }
        guard let offset = value["offset"] else { return }
        // An invalid offset makes the message invalid.
        guard let whole = offset.integer, whole >= 0 else { return nil }
        self.offset = whole
    }
}
