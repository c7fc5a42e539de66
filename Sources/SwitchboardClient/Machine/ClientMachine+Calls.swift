/// One call of a client.
struct CallState: Sendable {
    /// The data that are sent and stored.
    var entry: OutboxEntry
    /// The waiting caller, and its timeout.
    var terms: CallTerms
    /// The number of the `setCredentials` under which it was made; used while its user is not known.
    let credentialsNumber: Int
    /// The time at which the caller receives `.timeout`.
    let untilMs: Int64
    /// Whether it was sent on the present connection and has no answer.
    var isSent = false
    /// The start of its first attempt, by the machine's clock; `nil` for a call that was loaded.
    var firstSentMs: Int64?
    /// The machine's time before which it is not sent, since the gateway answered `unavailable`.
    var restUntilMs: Int64 = 0
    /// The number of temporary refusals by the gateway, 10 at most; pauses grow with it.
    var rests = 0
    /// The number of connections that the gateway closed for the client's fault after this call was sent on them.
    var blames = 0

    /// Whether another attempt might perform the call twice.
    ///
    /// A wall clock that was set makes an entry old.
    func isTooOld(nowMs: Int64, wallMs: Int64, repeatMs: Int64) -> Bool {
        guard let firstSent = entry.firstSentAtMs, !entry.isRepeatable, !isSent else { return false }
        if let first = firstSentMs, first == .min || nowMs - first >= repeatMs { return true }
        return wallMs < firstSent || wallMs - firstSent >= repeatMs
    }

    /// The bytes that count against `callBytesMax`: body, name and id in UTF-8.
    var bytes: Int { entry.body.utf8.count + entry.event.utf8.count + entry.id.utf8.count }
}

/// Calls: each is sent under one id until it is answered, in its lane's order, and never where that might perform it
/// twice.
extension ClientMachine {
    /// Takes a call of the app; refuses at once a call that cannot wait, or that exceeds a limit.
    mutating func call(_ entry: OutboxEntry, _ terms: CallTerms) {
        func refuse(_ code: SwitchboardError.Code, _ message: String = "") {
            outputs.append(.finish(ticket: terms.ticket, .failure(SwitchboardError(code, message))))
        }
        if isHalted { return refuse(.stopped) }
        if terms.failsOffline, phase != .ready { return refuse(.offline) }
        if calls.contains(where: { $0.entry.id == entry.id }) {
            return refuse(.server("conflict"), "A call of this id waits already.")
        }
        if entry.message.utf8.count > times.messageBytesMax { return refuse(.tooLarge, "The message is too long.") }
        var call = CallState(
            entry: entry, terms: terms, credentialsNumber: credentialsNumber, untilMs: nowMs + max(terms.timeoutMs, 1))
        if calls.count >= times.callsMax || calls.reduce(call.bytes, { $0 + $1.bytes }) > times.callBytesMax {
            return refuse(.tooLarge, "Too many calls wait.")
        }
        call.entry.user = credentials == .none ? "" : userID
        calls.append(call)
        if terms.isKept { outputs.append(.store(call.entry)) }
    }

    /// Puts entries of an earlier process before this one's calls; entries without a user end with `.stopped`.
    mutating func loaded(_ entries: [OutboxEntry]) {
        var known: [CallState] = []
        for entry in entries where !calls.contains(where: { $0.entry.id == entry.id }) {
            let call = CallState(
                entry: entry, terms: CallTerms(ticket: 0, timeoutMs: 0, isKept: true),
                credentialsNumber: entry.user == nil ? -1 : credentialsNumber, untilMs: .max)
            known.append(call)
        }
        known.sort { $0.entry.createdAtMs < $1.entry.createdAtMs }
        calls = known + calls
        // Their user is unknown: another user may use the app now.
        end(SwitchboardError(.stopped, "The call's user is not known.")) { $0.credentialsNumber == -1 }
    }

    /// The storage failed: drops the call, and reports the failure to its caller.
    mutating func unstored(_ id: String, _ message: String, isLeft: Bool) {
        guard let index = calls.firstIndex(where: { $0.entry.id == id }) else { return }
        let call = calls.remove(at: index)
        finish(call, .failure(SwitchboardError(isLeft ? .uncertain : .storage, message)))
    }

    /// The caller stopped waiting: withdraws a call that is neither sent nor kept; any other continues without a
    /// caller.
    mutating func cancel(_ ticket: Int) {
        guard let index = calls.firstIndex(where: { $0.terms.ticket == ticket }) else { return }
        let call = calls[index]
        if call.entry.firstSentAtMs == nil, !call.terms.isKept {
            calls.remove(at: index)
        } else {
            calls[index].terms.ticket = 0
        }
        outputs.append(.finish(ticket: ticket, .failure(SwitchboardError(.cancelled))))
    }

    /// Withdraws a call that was never sent; does nothing for any other id.
    mutating func remove(_ id: String) {
        end(SwitchboardError(.cancelled)) { $0.entry.id == id && $0.entry.firstSentAtMs == nil }
    }

    /// The user is known: assigns to that user the calls that were made before.
    mutating func bindCalls(to user: String) {
        for index in calls.indices
        where calls[index].entry.user == nil && calls[index].credentialsNumber == credentialsNumber {
            calls[index].entry.user = user
            if calls[index].terms.isKept { outputs.append(.store(calls[index].entry)) }
        }
    }

    /// The user changed: kept calls of known users wait for those users, all other calls end.
    mutating func callsOfOthers() {
        end(SwitchboardError(.stopped, "The user changed.")) { !$0.terms.isKept || $0.entry.user == nil }
    }

    /// The gateway closed the connection for the client's fault: gives up a call to which that happened twice.
    mutating func callsBlamed() {
        for index in calls.indices where calls[index].isSent { calls[index].blames += 1 }
        end(SwitchboardError(.uncertain, "It ends connections.")) { $0.isSent && $0.blames > 1 }
    }

    /// The connection ended: calls that were sent have no answer, and may have been performed.
    mutating func callsLost() {
        for index in calls.indices where calls[index].isSent {
            calls[index].isSent = false
            // Without a token an id is valid on its own connection only.
            if credentials == .none, !calls[index].entry.isRepeatable { calls[index].firstSentMs = .min }
        }
    }

    // MARK: Answers

    /// Ends a call with the gateway's answer; after `rate_limited` and `unavailable` it is sent again later.
    mutating func answered(_ frame: Frame, _ result: Result<JSONValue, SwitchboardError>) {
        guard let index = calls.firstIndex(where: { $0.entry.id == frame.ref }), calls[index].isSent else { return }
        if case .failure(let error) = result, case .server(let code) = error.code,
            code == "rate_limited" || code == "unavailable"
        {
            calls[index].isSent = false
            calls[index].rests = min(calls[index].rests + 1, 10)
            let pause =
                clamped(frame.data["retryAfterMs"]) ?? min(times.backoffMinMs << Int64(calls[index].rests), 5_000)
            if code == "rate_limited" {
                callsRestUntilMs = max(callsRestUntilMs, nowMs + pause)
            } else {
                calls[index].restUntilMs = nowMs + Int64.random(in: pause / 2...pause, using: &dice)
            }
            return
        }
        finish(calls.remove(at: index), result)
    }

    private mutating func finish(_ call: CallState, _ result: Result<JSONValue, SwitchboardError>) {
        if call.terms.isKept { outputs.append(.forget(id: call.entry.id)) }
        if call.terms.ticket != 0 {
            outputs.append(.finish(ticket: call.terms.ticket, result))
        } else if call.terms.isKept {
            outputs.append(.result(OutboxResult(entry: call.entry, result: result)))
        }
    }

    private mutating func end(_ error: SwitchboardError, where isOver: (CallState) -> Bool) {
        guard calls.contains(where: isOver) else { return }
        let over = calls.filter(isOver)
        calls.removeAll(where: isOver)
        for call in over { finish(call, .failure(error)) }
    }

    // MARK: Time

    /// Ends the calls that are too old, and those whose timeout has passed.
    mutating func runCallTimers() {
        callRate.perSecond = nowMs < slowUntilMs ? times.callsPerSecond / 2 : times.callsPerSecond
        let now = nowMs
        let wall = wallMs
        let repeatMs = times.repeatMs
        end(SwitchboardError(.uncertain, "No answer came.")) {
            $0.isTooOld(nowMs: now, wallMs: wall, repeatMs: repeatMs)
        }
        end(SwitchboardError(.timeout)) { !$0.terms.isKept && now >= $0.untilMs }
        end(SwitchboardError(.expired)) {
            $0.terms.isKept && $0.entry.firstSentAtMs == nil && wall >= $0.entry.expiresAtMs
        }
    }

    /// The times of the machine's clock at which calls need a `tick`.
    var callWakes: [Int64] {
        var due: [Int64] = []
        for call in calls {
            if !call.terms.isKept { due.append(call.untilMs) }
            if call.terms.isKept, call.entry.firstSentAtMs == nil {
                due.append(nowMs + min(max(call.entry.expiresAtMs - wallMs, 1), 3_600_000))
            }
            if !call.isSent, let first = call.firstSentMs, !call.entry.isRepeatable, first != .min {
                due.append(first + times.repeatMs)
            }
            if !call.isSent, call.restUntilMs > nowMs { due.append(call.restUntilMs) }
        }
        if phase == .ready, hasCallToSend { due.append(max(callsRestUntilMs, callRate.nextAtMs)) }
        return due
    }

    /// Whether only the rate delays a call: the head of a lane, with room for one more in flight.
    private var hasCallToSend: Bool {
        let user = credentials == .none ? "" : userID
        var busy: Set<String> = []
        var inFlight = 0
        var isHead = false
        for call in calls where call.entry.user != nil && call.entry.user == user {
            if call.isSent { inFlight += 1 }
            if busy.insert(call.entry.lane).inserted, !call.isSent, call.restUntilMs <= nowMs { isHead = true }
        }
        return isHead && inFlight < times.callsInFlightMax
    }

    /// Sends the head of each lane, as far as rate and limits allow.
    mutating func flushCalls() {
        guard nowMs >= callsRestUntilMs else { return }
        var inFlight = calls.reduce(0) { $0 + ($1.isSent ? 1 : 0) }
        var room = callRate.available(nowMs)
        var busy: Set<String> = []
        let user = credentials == .none ? "" : userID
        for index in calls.indices {
            guard inFlight < times.callsInFlightMax, room > 0 else { return }
            guard let owner = calls[index].entry.user, owner == user else { continue }
            guard busy.insert(calls[index].entry.lane).inserted, !calls[index].isSent,
                nowMs >= calls[index].restUntilMs
            else { continue }
            inFlight += 1
            room -= 1
            callRate.take(1)
            calls[index].isSent = true
            if calls[index].entry.firstSentAtMs == nil {
                calls[index].firstSentMs = nowMs
                calls[index].entry.firstSentAtMs = wallMs
                if calls[index].terms.isKept { outputs.append(.store(calls[index].entry)) }
            }
            send(calls[index].entry.message)
        }
    }
}

extension OutboxEntry {
    /// The message of this call.
    ///
    /// A publish has its id among its arguments, a command in its `ref`.
    var message: String {
        let ref = JSONValue.quoted(id)
        guard let topic else { return #"{"event":\#(JSONValue.quoted(event)),"data":\#(body),"ref":\#(ref)}"# }
        return #"{"event":"publish","topic":\#(JSONValue.quoted(topic)),"data":\#(body),"ref":\#(ref)}"#
    }
}
