/// All of a client's logic, as a value: it takes what happens and the time, and returns what to do.
///
/// It has no socket, no clock, no lock and no randomness but its seed's, so whole histories are tested at once. Times are
/// milliseconds of a clock that goes on while the device sleeps.
struct ClientMachine: Sendable {
    /// Where the connection stands.
    ///
    /// Times say when it counts as failed.
    enum Phase: Sendable, Equatable {
        /// Not started, or stopped.
        case stopped
        /// There is nothing to do without a token; a topic or a call dials.
        case idle
        /// The source is asked for a token.
        case asking
        /// A pause before the next attempt.
        case waiting(untilMs: Int64)
        /// A socket is being opened.
        case connecting(untilMs: Int64)
        /// The token was shown, and has no answer.
        case authenticating(untilMs: Int64)
        /// Topics and calls flow.
        case ready
        /// No token is accepted; other credentials go on.
        case unauthorized
        /// The app is away; nothing is dialled before it is back.
        case suspended
    }

    /// The times and bounds, which stay as they are.
    let times: ClientTimes
    /// Whether the upgrade carries the token, for gateways that open nothing without one.
    let showsTokenInUpgrade: Bool
    /// The source of every random pause.
    var dice: Dice
    /// The time of the last input, in milliseconds of a clock that never goes back.
    var nowMs: Int64 = 0
    /// The date at the last input, in milliseconds since 1970; it may go back.
    var wallMs: Int64 = 0
    /// What the present input has led to so far.
    var outputs: [ClientOutput] = []

    /// Where the connection stands.
    var phase = Phase.stopped
    /// The present socket; what an older one says is not heard.
    var generation = 0
    /// Whether the present socket was opened.
    var isOpen = false
    /// Pauses since a connection was last ready for `stableMs`, 30 at most.
    var attempt = 0
    /// When the connection was last ready; counts while the phase is `ready`.
    var readySinceMs: Int64 = 0
    /// When the gateway last said anything.
    var lastHeardMs: Int64 = 0
    /// When an unanswered ping ends the connection; `nil` without one.
    var pongUntilMs: Int64?
    /// How many pings there were; numbers their `ref`s.
    var pings = 0
    /// From `draining`: when to leave.
    var leaveAtMs: Int64?
    /// How the last connection ended, for the status.
    var lastClose: Status.Close?
    /// Why there is no connection, for the status.
    var reason: Status.Reason?
    /// When the last socket was opened; long ago before the first.
    var dialledAtMs = Int64.min / 2
    /// Calls go at half the rate until then.
    var slowUntilMs: Int64 = 0
    /// After `stop` calls fail; before the first `start` they wait.
    var isHalted = false
    /// The `ref` of the token that has no answer yet.
    var authRef: String?
    /// Whether the device says that there is a route; shown, and never obeyed.
    var isNetworkUsable = true
    /// Since when the app is out of sight; `nil` while it is in sight.
    var backgroundAtMs: Int64?
    /// When a hint about routes was last heeded; one a second is.
    var hintedAtMs = Int64.min / 2

    /// Where tokens come from.
    var credentials = Credentials.none
    /// Counts `setCredentials`; a call whose user is not known goes with none but these.
    var credentialsNumber = 0
    /// The token that was shown last, or is shown next; `nil` without one.
    var token: HeldToken?
    /// Refused tokens since a connection was last ready; the second is the end, of a fixed token the first.
    var refusals = 0
    /// The number of the fetch under way, and of the last one.
    var fetch: Int?
    /// How often the source was asked.
    var fetches = 0
    /// The socket for which the token was asked; a token that comes later waits for the next need.
    var fetchGeneration = 0
    /// A token that came too late for the connection it was asked for.
    var spare: String?
    /// When the source is asked again after it threw on an open connection.
    var fetchAgainAtMs: Int64?
    /// When the gateway's word that a token ends soon was last heeded; long ago before the first.
    var expiringAtMs = Int64.min / 2
    /// How often in a row the source threw, 20 at most.
    var fetchFailures = 0
    /// The user, once the token or the gateway told.
    var userID: String?

    /// The topics that somebody wants or has just left, by name.
    var topics: [String: TopicState] = [:]
    /// The topics in the order in which they were wanted.
    var topicOrder: [String] = []
    /// Whether anything happened that may give a topic something to do; an event that is delivered does not.
    var topicsChanged = true
    /// When a topic has something to do unless anything changes; the largest number for never.
    var topicsDueMs = Int64.max
    /// The rate of subscribes; it is full on each new connection.
    var joins: TokenBucket
    /// How many requests there were beside calls and pings; numbers their `ref`s.
    var asks = 0

    /// The calls without an answer, in their order; `callsMax` at most, but for those that the storage held.
    var calls: [CallState] = []
    /// The rate of calls.
    var callRate: TokenBucket
    /// No call is sent before this time, since the gateway answered `rate_limited`.
    var callsRestUntilMs: Int64 = 0
    /// The status as it was last told.
    var lastStatus = Status()

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

    /// Takes one input at its time, and returns what to do in this order.
    mutating func take(_ input: ClientInput, nowMs: Int64, wallMs: Int64) -> [ClientOutput] {
        self.nowMs = max(self.nowMs, nowMs)
        self.wallMs = wallMs
        if case .text = input {} else { topicsChanged = true }
        // After a long sleep what is due comes first: an input must not meet a connection that is over.
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

    /// Sends what may be sent now.
    private mutating func flush() {
        if phase == .idle, hasWork { dial() }
        guard phase == .ready else { return }
        flushTopics()
        flushCalls()
    }

    /// Whether the topics have to be gone through: with many of them that costs more than an event.
    var mustLookAtTopics: Bool { topicsChanged || nowMs >= topicsDueMs }

    /// Whether there is a reason for a connection without a token.
    var hasWork: Bool { !topics.isEmpty || !calls.isEmpty }

    /// How the client stands.
    var status: Status {
        var status = Status()
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

    /// Says something on the present socket.
    mutating func send(_ text: String) { outputs.append(.send(generation: generation, text)) }

    // MARK: Messages

    private mutating func heard(_ text: String) {
        lastHeardMs = nowMs
        // Any message is a sign of life.
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

    /// What the gateway says of the connection, of topics, or of what was asked.
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

/// A message of the gateway.
struct Frame {
    /// The event's name.
    var event: String
    /// The topic, of an error also where only its data names it.
    var topic: String?
    /// The request that it answers.
    var ref: String?
    /// What it says; `null` where there is nothing.
    var data: JSONValue
    /// Where an event stands in its topic, from 0; `nil` for what has no place there.
    var offset: Int64?

    /// `nil` for what is no message of the protocol.
    init?(_ text: String) {
        guard let value = JSONReader.read(text), let event = value["event"]?.string else { return nil }
        self.event = event
        data = value["data"] ?? .null
        topic = value["topic"]?.string ?? (event == "error" ? data["topic"]?.string : nil)
        ref = value["ref"].map { $0.string ?? $0.text }
        guard let offset = value["offset"] else { return }
        // An offset that is none makes it no event.
        guard let whole = offset.integer, whole >= 0 else { return nil }
        self.offset = whole
    }
}
