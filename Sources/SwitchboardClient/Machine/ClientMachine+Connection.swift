/// The connection: dialling, pauses, pings, drains, networks.
extension ClientMachine {
    /// The app wants a connection; an existing or pending one is kept.
    mutating func start() {
        isHalted = false
        if phase == .stopped { dial() }
    }

    /// Ends the connection, every topic, and the waiting of every caller; kept calls stay.
    mutating func stop() {
        isHalted = true
        guard phase != .stopped || hasWork else { return }
        for name in topicOrder {
            for listener in topics[name]?.listeners ?? [] { outputs.append(.end(listener: listener.id, nil)) }
        }
        topics = [:]
        topicOrder = []
        drop(code: 1_000)
        phase = .stopped
        reason = nil
        fetch = nil
        fetchAgainAtMs = nil
        attempt = 0
        refusals = 0
        let stopped = SwitchboardError(.stopped)
        // Kept calls stay in the outbox. Their callers receive an error, and the answers become outbox results.
        for call in calls where call.terms.ticket != 0 {
            outputs.append(.finish(ticket: call.terms.ticket, .failure(stopped)))
        }
        calls = calls.filter(\.terms.isKept)
        for index in calls.indices { calls[index].terms.ticket = 0 }
    }

    /// Begins an attempt, with the present token or after a request for one.
    mutating func dial() {
        leaveAtMs = nil
        switch credentials {
        // The gateway closes an anonymous connection without topics and calls.
        case .none:
            guard !hasWork, lastClose?.code == 4_408 else { return connect() }
            phase = .idle
            reason = nil
        case .fixed, .refreshing:
            if let text = spare {
                spare = nil
                token = HeldToken(text, nowMs: nowMs)
                connect()
            } else if token?.isFresh(nowMs) == true {
                connect()
            } else {
                askForConnection()
            }
        }
    }

    /// Opens a socket with the present token; the attempt fails after `connectMs`.
    mutating func connect() {
        if credentials == .none { bindCalls(to: "") } else if let user = token?.user { knows(user: user) }
        generation += 1
        isOpen = false
        dialledAtMs = nowMs
        phase = .connecting(untilMs: nowMs + times.connectMs)
        outputs.append(.open(generation: generation, token: showsTokenInUpgrade ? token?.text : nil))
    }

    /// The upgrade was accepted: sends the token, unless there is none or the upgrade carried it.
    mutating func opened() {
        guard case .connecting = phase else { return }
        isOpen = true
        lastHeardMs = nowMs
        if let token, credentials != .none, !showsTokenInUpgrade {
            phase = .authenticating(untilMs: nowMs + times.authenticateMs)
            show(token.text)
        } else {
            becomeReady()
        }
    }

    /// Topics and calls may be sent from now on.
    mutating func becomeReady() {
        phase = .ready
        reason = nil
        readySinceMs = nowMs
        lastHeardMs = nowMs
        refusals = 0
        joins = TokenBucket(atOnce: times.joinsAtOnce, perSecond: times.joinsPerSecond, nowMs: nowMs)
    }

    /// Drops the socket, whichever side ended it.
    ///
    /// Messages sent on it count as not sent; later input from it is ignored.
    mutating func drop(code: Int?) {
        if let code, phase != .stopped, hasSocket { outputs.append(.close(generation: generation, code: code)) }
        generation += 1
        isOpen = false
        pongUntilMs = nil
        leaveAtMs = nil
        authRef = nil
        topicsChanged = true
        if phase == .ready, nowMs - readySinceMs >= times.stableMs { attempt = 0 }
        topicsLost()
        callsLost()
    }

    private var hasSocket: Bool {
        switch phase {
        case .connecting, .authenticating, .ready: true
        default: false
        }
    }

    /// Drops the socket and opens another one after a pause.
    mutating func redial(code: Int?, afterMs pause: Int64? = nil) {
        drop(code: code)
        attempt = min(attempt + 1, 30)
        wait(pause ?? backoff())
    }

    /// A pause that the gateway asks for, at most a minute; `nil` when the value is no number.
    func clamped(_ pause: JSONValue?) -> Int64? {
        switch pause {
        case .integer(let value): min(max(value, 0), 60_000)
        case .number(let value): value.isNaN ? nil : Int64(min(max(value, 0), 60_000))
        default: nil
        }
    }

    private mutating func wait(_ pause: Int64) {
        if pause <= 0 { dial() } else { phase = .waiting(untilMs: nowMs + pause) }
    }

    /// Dials at that time, or `redialMs` after the last dial if that is later.
    ///
    /// So no gateway can make a client dial without a pause.
    private mutating func dial(atMs: Int64) {
        wait(max(atMs, dialledAtMs + times.redialMs) - nowMs)
    }

    /// A pause with full jitter: clients that were disconnected together reconnect at an even rate.
    mutating func backoff() -> Int64 {
        let most = min(times.backoffMaxMs, times.backoffMinMs << Int64(min(attempt, 20)))
        return Int64.random(in: times.backoffMinMs...max(most, times.backoffMinMs), using: &dice)
    }

    /// The socket ended by itself; the code decides whether and when to dial again.
    mutating func closed(code: Int, httpStatus: Int?, message: String) {
        guard hasSocket else { return }
        lastClose = ConnectionStatus.Close(code: code, httpStatus: httpStatus)
        let leave = leaveAtMs
        let isPlanned = leave != nil || (code == 4_408 && credentials == .none && !hasWork)
        reason =
            isPlanned
            ? nil
            : ConnectionStatus.Reason(code: code, httpStatus: httpStatus, message: message, wasOpen: phase == .ready)
        switch (code, httpStatus) {
        case (_, 401), (4_401, _): tokenClosed()
        case (_, 403), (4_403, _):
            drop(code: nil)
            phase = .unauthorized
        case (4_400, _), (1_002, _), (1_003, _), (1_007, _), (1_008, _), (1_009, _):
            callsBlamed()
            redial(code: nil, afterMs: times.faultMs)
        case (4_429, _):
            slowUntilMs = nowMs + 60_000
            redial(code: nil, afterMs: times.rateClosedMs + backoff())
        default:
            guard let leave else { return redial(code: nil) }
            // The gateway's own pause replaces the backoff, once.
            drop(code: nil)
            dial(atMs: leave)
        }
    }

    /// The gateway asks the client to reconnect after so many milliseconds; the first request on a connection counts.
    mutating func drain(afterMs: Int64) {
        guard hasSocket, leaveAtMs == nil else { return }
        leaveAtMs = nowMs + afterMs
    }

    // MARK: Time

    /// Performs the actions that are due.
    mutating func runTimers() {
        switch phase {
        case .waiting(let until): if nowMs >= until { dial() }
        case .connecting(let until), .authenticating(let until):
            if nowMs >= until { unanswered() } else { leaveIfDrained() }
        case .ready: runReadyTimers()
        case .stopped, .idle, .asking, .unauthorized, .suspended: break
        }
        if let again = fetchAgainAtMs, nowMs >= again, fetch == nil {
            fetchAgainAtMs = nil
            renewToken(.expiring)
        } else if phase == .ready, fetch == nil, fetchAgainAtMs == nil, pongUntilMs == nil,
            let renew = token?.renewAtMs, nowMs >= renew
        {
            renewToken(.expiring)
        }
        runTopicTimers()
        runCallTimers()
    }

    private mutating func runReadyTimers() {
        if leaveIfDrained() {
            return
        } else if let pong = pongUntilMs {
            if nowMs >= pong { unanswered() }
        } else if nowMs - lastHeardMs >= times.pingMs {
            ping(withinMs: times.pongMs)
        }
    }

    /// The gateway did not answer in time.
    private mutating func unanswered() {
        reason = ConnectionStatus.Reason(.noAnswer, "The gateway does not answer.")
        redial(code: 1_000)
    }

    @discardableResult
    private mutating func leaveIfDrained() -> Bool {
        guard let leave = leaveAtMs, nowMs >= leave else { return false }
        drop(code: 1_000)
        dial(atMs: nowMs)
        return true
    }

    private mutating func ping(withinMs: Int64) {
        pings += 1
        pongUntilMs = nowMs + withinMs
        send(#"{"event":"ping","ref":"!p\#(pings)"}"#)
    }

    /// The time at which the machine needs a `tick`; `nil` while nothing is due.
    var wakeAtMs: Int64? {
        var due: [Int64] = []
        switch phase {
        case .waiting(let until): due.append(until)
        case .connecting(let until), .authenticating(let until): due.append(min(until, leaveAtMs ?? until))
        case .ready:
            due.append(pongUntilMs ?? lastHeardMs + times.pingMs)
            if let leaveAtMs { due.append(leaveAtMs) }
            if fetch == nil, fetchAgainAtMs == nil, pongUntilMs == nil, let renew = token?.renewAtMs {
                due.append(renew)
            }
        case .stopped, .idle, .asking, .unauthorized, .suspended: break
        }
        if fetch == nil, let fetchAgainAtMs { due.append(fetchAgainAtMs) }
        if topicsDueMs < .max { due.append(topicsDueMs) }
        due += callWakes
        return due.min().map { max($0, nowMs + 1) }
    }

    // MARK: The device

    /// A network route appeared or disappeared.
    ///
    /// It is a hint: the client never waits for a route.
    mutating func network(_ usable: Bool, _ changed: Bool) {
        isNetworkUsable = usable
        if !usable { return probe() }
        guard nowMs - hintedAtMs >= 1_000 else { return }
        hintedAtMs = nowMs
        if case .waiting(let until) = phase {
            let soon = max(nowMs + Int64.random(in: 0...500, using: &dice), dialledAtMs + times.redialMs)
            phase = .waiting(untilMs: min(until, soon))
        } else if changed {
            probe()
        }
    }

    /// The app is in the foreground again: checks a connection that seems open, or makes a new one.
    mutating func foreground() {
        let away = nowMs - (backgroundAtMs ?? nowMs)
        backgroundAtMs = nil
        if phase == .suspended {
            dial()
        } else if case .waiting(let until) = phase {
            phase = .waiting(untilMs: min(until, max(nowMs, dialledAtMs + times.redialMs)))
        } else if phase == .ready, away < times.backgroundMs {
            probe()
        } else if hasSocket, away >= times.backgroundMs {
            drop(code: 1_000)
            dial()
        }
    }

    /// Ends the connection now, since the frozen app could not react to its end later.
    mutating func suspend() {
        guard phase != .stopped, phase != .unauthorized else { return }
        drop(code: 1_000)
        phase = .suspended
        reason = nil
    }

    private mutating func probe() {
        guard phase == .ready else { return }
        if let pong = pongUntilMs {
            pongUntilMs = min(pong, nowMs + times.probeMs)
        } else {
            ping(withinMs: times.probeMs)
        }
    }

    /// Replaces the connection by another one.
    mutating func abandon() {
        drop(code: 1_000)
        dial(atMs: nowMs)
    }

    /// No token is accepted: the client does not dial before the app sets other credentials.
    mutating func giveUp(code: Int?) {
        drop(code: code)
        phase = .unauthorized
    }
}
