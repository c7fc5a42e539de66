/// All of a client's logic, as a value: it takes what happens and the time, and returns what to do.
///
/// It has no socket, no clock, no lock and no randomness but its seed's, so whole histories are tested at once. Times are
/// milliseconds of a clock that goes on while the device sleeps.
struct ClientMachine: Sendable {
    /// Where the connection stands.
    ///
    /// Times say when it counts as failed.
    enum Phase: Sendable, Equatable {
        case stopped
        case idle
        case asking
        case waiting(untilMs: Int64)
        case connecting(untilMs: Int64)
        case authenticating(untilMs: Int64)
        case ready
        case unauthorized
        /// The app is away; nothing is dialled before it is back.
        case suspended
    }

    let times: ClientTimes
    /// Whether the upgrade carries the token, for gateways that open nothing without one.
    let showsTokenInUpgrade: Bool
    var dice: Dice
    var nowMs: Int64 = 0
    var wallMs: Int64 = 0
    var outputs: [ClientOutput] = []

    var phase = Phase.stopped
    /// The present socket; what an older one says is not heard.
    var generation = 0
    var isOpen = false
    var attempt = 0
    var readySinceMs: Int64 = 0
    var lastHeardMs: Int64 = 0
    var pongUntilMs: Int64?
    var pings = 0
    /// From `draining`: when to leave.
    var leaveAtMs: Int64?
    var lastClose: Status.Close?
    var dialledAtMs = Int64.min / 2
    /// Calls go at half the rate until then.
    var slowUntilMs: Int64 = 0
    /// After `stop` calls fail; before the first `start` they wait.
    var isHalted = false
    /// The `ref` of the token that has no answer yet.
    var authRef: String?
    var isNetworkUsable = true
    var backgroundAtMs: Int64?
    var hintedAtMs = Int64.min / 2

    var credentials = Credentials.none
    /// Counts `setCredentials`; a call whose user is not known goes with none but these.
    var credentialsNumber = 0
    var token: HeldToken?
    var refusals = 0
    /// The number of the fetch under way, and of the last one.
    var fetch: Int?
    var fetches = 0
    /// The socket for which the token was asked; a token that comes later waits for the next need.
    var fetchGeneration = 0
    var spare: String?
    var fetchAgainAtMs: Int64?
    var fetchFailures = 0
    var userID: String?

    var topics: [String: TopicState] = [:]
    /// The topics in the order in which they were wanted.
    var topicOrder: [String] = []
    var joins: TokenBucket
    var asks = 0

    var calls: [CallState] = []
    var callRate: TokenBucket
    var callsRestUntilMs: Int64 = 0
    var lastStatus = Status()

    init(times: ClientTimes, seed: UInt64, credentials: Credentials = .none, showsTokenInUpgrade: Bool = false) {
        self.showsTokenInUpgrade = showsTokenInUpgrade
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
        // After a long sleep what is due comes first: an input must not meet a connection that is over.
        runTimers()
        handle(input)
        runTimers()
        flush()
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
        case .closed(let generation, let code, let httpStatus):
            if generation == self.generation { closed(code: code, httpStatus: httpStatus) }
        case .tick: break
        case .join(let topic, let listener, let presence, let since): join(topic, listener, presence, since)
        case .leave(let topic, let listener): leave(topic, listener)
        case .track(let topic, let meta): track(topic, meta)
        case .call(let entry, let terms): call(entry, terms)
        case .cancel(let ticket): cancel(ticket)
        case .remove(let id): remove(id)
        case .loaded(let entries): loaded(entries)
        case .resynchronise(let topic): resynchronise(topic)
        case .unstored(let id, let message): unstored(id, message)
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
        status.isNetworkUsable = isNetworkUsable
        return status
    }

    mutating func send(_ text: String) { outputs.append(.send(generation: generation, text)) }

    // MARK: Messages

    private mutating func heard(_ text: String) {
        lastHeardMs = nowMs
        // Any message is a sign of life.
        pongUntilMs = nil
        guard let frame = Frame(text) else { return }
        switch frame.event {
        case "authenticated": if let ref = frame.ref, ref == authRef { authenticated(frame.data) }
        case "pong": break
        case "token:expiring": if fetch == nil { renewToken(.expiring) }
        case "draining": drain(afterMs: clamped(frame.data["reconnectAfterMs"]) ?? 1_000)
        case "warning": break
        case "subscribed": subscribed(frame)
        case "unsubscribed": unsubscribed(frame)
        case "presence": presence(frame)
        case "gap": gap(frame)
        case "ack": answered(frame, .success(frame.data))
        case "error": failed(frame)
        default: event(frame)
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
    var event: String
    var topic: String?
    var ref: String?
    var data: JSONValue
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
