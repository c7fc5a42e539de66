/// Calls scripts through a pipelined link so that a flushed script cache causes no failure and no change of order
/// (failure catalogue R9).
///
/// `NOSCRIPT` answers one call of a pipeline while the calls behind it continue. Sending it again puts it behind them.
/// They need not fail as it did, since another gateway may load the script in between. So order requires that no two
/// calls whose order matters are in flight at once.
///
/// Such calls share a **lane**, in which one call is in flight and the others wait. Lanes are independent, and a call
/// without a lane waits for nothing. A lane should have one source, such as a session: calls that two sources send at
/// once have no order to keep. One source alone is too slow to notice the round trip.
///
/// A call is sent as `EVALSHA`. After `NOSCRIPT` it is sent as `EVAL`, which loads the script. While such a repair of
/// the same script is in flight, it is sent as `EVALSHA` behind it. So a flush under load does not send the source
/// once for each call. After a second `NOSCRIPT` it is always sent as `EVAL`.
///
/// So a call is sent at most three times, and runs at most once: Redis replies `NOSCRIPT` before anything has run.
///
/// The driver sends each ``Flight`` it is given, adds it to its ``CallPipeline``, and returns it with the reply. A
/// value without I/O; bounded by `heldMax`.
public struct ScriptLanes<Context> {
    /// A call on the wire.
    public struct Flight {
        /// The call.
        public let call: ScriptCall
        /// The form in which it names its script this time.
        public let form: ScriptRegistry.Form
        /// The caller's own value.
        public let context: Context
        /// The deadline of the reply, absolute milliseconds.
        public let deadlineMs: Int
        fileprivate let lane: UInt64?
        fileprivate let attempt: Int
    }

    /// The result of submitting a call.
    public enum Submission {
        /// Send it now.
        case send(Flight)
        /// It waits for another call of its lane.
        case held
        /// Too many calls wait; it was not accepted.
        case full
    }

    /// A step that the driver must take after a reply, in order.
    public enum Action {
        /// Send this flight.
        case send(Flight)
        /// Give the reply to the caller; it may be an error reply.
        case finish(Context, RESPValue)
        /// Report to the caller that its deadline passed while its call waited in its lane; the call was never sent.
        case expire(Context)
    }

    fileprivate struct Held {
        let flight: Flight
        var next: Int
    }

    /// The waiting calls of a lane with one in flight: a list through ``held``; -1 is the end.
    private struct Lane {
        var head: Int
        var tail: Int
    }

    private var lanes: [UInt64: Lane] = [:]
    private var held: [Held?] = []
    private var free: [Int] = []
    private var heldCount = 0
    /// The number of `EVAL` calls in flight, by script.
    private var repairs: [Int]
    private let heldMax: Int

    /// Makes lanes for the scripts of a registry; at most `heldMax` calls wait in all of them together.
    public init(registry: ScriptRegistry, heldMax: Int) {
        repairs = [Int](repeating: 0, count: registry.scripts.count)
        self.heldMax = heldMax
    }

    /// The number of calls that wait in lanes.
    public var waiting: Int { heldCount }

    /// Whether a call of the lane is in flight or waits.
    public func isBusy(_ lane: UInt64) -> Bool { lanes[lane] != nil }

    /// Takes a call.
    ///
    /// Calls of one lane are executed in the order of their submission; `nil` keeps no order.
    public mutating func submit(
        _ call: ScriptCall, lane: UInt64?, deadlineMs: Int, context: Context
    ) -> Submission {
        let flight = Flight(
            call: call, form: .digest, context: context, deadlineMs: deadlineMs, lane: lane, attempt: 0)
        guard let lane else { return .send(flight) }
        guard var queue = lanes[lane] else {
            lanes[lane] = Lane(head: -1, tail: -1)
            return .send(flight)
        }
        guard heldCount < heldMax else { return .full }
        let slot = store(Held(flight: flight, next: -1))
        if queue.tail >= 0 { held[queue.tail]?.next = slot } else { queue.head = slot }
        queue.tail = slot
        lanes[lane] = queue
        return .held
    }

    /// Whether a reply ends its flight and nothing else: no lane waits for it, and it is not sent again.
    ///
    /// Such a reply goes to the caller at once; any other is for ``replied(_:_:nowMs:into:)``.
    public func isEnd(of flight: Flight, _ reply: RESPValue) -> Bool {
        if flight.lane != nil || flight.form == .source { return false }
        if case .error = reply { return false }
        return true
    }

    /// Takes the reply of a flight and appends the next steps: it is sent again, or finished and its lane continues.
    public mutating func replied(_ flight: Flight, _ reply: RESPValue, nowMs: Int, into actions: inout [Action]) {
        let script = flight.call.script.index
        if flight.form == .source { repairs[script] -= 1 }
        if flight.form == .digest, case .error(let line) = reply, RedisFailure.classify(line) == .noScript {
            let form: ScriptRegistry.Form = flight.attempt == 0 && repairs[script] > 0 ? .digest : .source
            if form == .source { repairs[script] += 1 }
            actions.append(
                .send(
                    Flight(
                        call: flight.call, form: form, context: flight.context, deadlineMs: flight.deadlineMs,
                        lane: flight.lane, attempt: flight.attempt + 1)))
            return
        }
        actions.append(.finish(flight.context, reply))
        release(flight.lane, nowMs: nowMs, into: &actions)
    }

    /// Releases the lane of a flight that ``replied(_:_:nowMs:into:)`` will not receive.
    ///
    /// Either the flight could not be sent, or its deadline passed while it was in flight. In the second case Redis may
    /// still run it, but never after later calls of its lane: they are sent behind it on the same connection, and its
    /// late `NOSCRIPT` is not repeated. The caller's context is in the flight.
    public mutating func abandoned(_ flight: Flight, nowMs: Int, into actions: inout [Action]) {
        if flight.form == .source { repairs[flight.call.script.index] -= 1 }
        release(flight.lane, nowMs: nowMs, into: &actions)
    }

    /// Clears all lanes after the connection was lost, and returns the contexts of the waiting calls.
    ///
    /// The contexts of each lane are in order. The flights are in the driver's pipeline, and each precedes the waiting
    /// calls of its lane.
    public mutating func disconnected() -> [Context] {
        var contexts: [Context] = []
        contexts.reserveCapacity(heldCount)
        for lane in lanes.values {
            var slot = lane.head
            while slot >= 0, let waiting = held[slot] {
                contexts.append(waiting.flight.context)
                slot = waiting.next
            }
        }
        lanes = [:]
        held = []
        free = []
        heldCount = 0
        for index in repairs.indices { repairs[index] = 0 }
        return contexts
    }

    /// Sends the next waiting call of a lane, or ends the lane.
    private mutating func release(_ lane: UInt64?, nowMs: Int, into actions: inout [Action]) {
        guard let lane, var queue = lanes[lane] else { return }
        while queue.head >= 0, let waiting = held[queue.head] {
            remove(queue.head)
            queue.head = waiting.next
            if queue.head < 0 { queue.tail = -1 }
            guard waiting.flight.deadlineMs > nowMs else {
                actions.append(.expire(waiting.flight.context))
                continue
            }
            lanes[lane] = queue
            actions.append(.send(waiting.flight))
            return
        }
        lanes[lane] = nil
    }

    private mutating func store(_ waiting: Held) -> Int {
        heldCount += 1
        if let slot = free.popLast() {
            held[slot] = waiting
            return slot
        }
        held.append(waiting)
        return held.count - 1
    }

    private mutating func remove(_ slot: Int) {
        held[slot] = nil
        free.append(slot)
        heldCount -= 1
    }
}

extension ScriptLanes: Sendable where Context: Sendable {}
extension ScriptLanes.Flight: Sendable where Context: Sendable {}
extension ScriptLanes.Action: Sendable where Context: Sendable {}
extension ScriptLanes.Submission: Sendable where Context: Sendable {}
extension ScriptLanes.Held: Sendable where Context: Sendable {}
