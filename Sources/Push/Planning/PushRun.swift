import Core

/// The course of one call: reads the facts of each item, sends it to the devices without it, and reports the results.
///
/// Items are sent one after another, so that each device receives them in order and each is checked right before it is
/// sent. A value: its input are events, its output are actions. Times are milliseconds since 1970.
public struct PushRun: Sendable {
    /// The action to perform.
    public enum Step: Sendable, Equatable {
        /// Ask Redis for the facts of the item.
        case read(PushItem)
        /// Send to these devices, all at once.
        case send([Push])
        /// Report the results of all items to Redis.
        case finish(answer: [UInt8])
    }

    /// One push to one device.
    public struct Push: Sendable, Equatable {
        /// The device.
        public let device: PushDevice
        /// The environment in which the token is tried.
        public let environment: PushDevice.Environment
        /// The JSON.
        public let payload: [UInt8]
        /// See ``PushItem/collapseID``.
        public let collapseID: [UInt8]
        /// Whether the device lights up for it: APNs priority 10 instead of 5.
        public let isUrgent: Bool
        /// The time at which APNs gives up, seconds since 1970.
        public let expirationSecond: Int
    }

    /// The result of one item.
    private struct Result {
        let item: PushItem
        var waitMs: Int?
        var past: PushPast?
    }

    private let request: PushRequest
    private let untilMs: Int
    private var index = 0
    private var results: [Result] = []
    private var dead: [(device: [UInt8], untilMs: Int)] = []
    private var pushes: [Push] = []
    private var past = PushPast()
    private var waiting = 0
    private var afterMs: Int?
    private var hasFailed = false
    /// Whether the failures are not the device's fault: then the user's other items wait as well, and keep their order.
    private var isAway = false
    /// The earliest time of the user's next call; `nil` for soon.
    private var restMs: Int?
    private var jitter: Double = 0
    /// The number of dropped items, by reason, for the figures.
    public private(set) var dropped: [PushDecision.Reason: Int] = [:]
    /// The number of items that wait for the end of quiet hours or of a session.
    public private(set) var held = 0

    /// A call, and the time by which it must end.
    public init(_ request: PushRequest, untilMs: Int) {
        self.request = request
        self.untilMs = untilMs
    }

    /// The first step.
    ///
    /// `closedUntilMs` is set while nothing can be sent at all.
    public mutating func start(nowMs: Int, closedUntilMs: Int?) -> Step {
        if let closedUntilMs, closedUntilMs > nowMs {
            restMs = closedUntilMs
            keepTurns()
            return finish()
        }
        return next(nowMs: nowMs)
    }

    /// Takes the facts of the item that was read.
    public mutating func read(_ facts: PushFacts, zone: TimeZone, nowMs: Int, jitter: Double) -> Step {
        guard index < request.items.count else { return finish() }
        let item = request.items[index]
        self.jitter = jitter
        switch PushDecision.of(facts, zone: zone, nowMs: nowMs) {
        case .drop(let reason):
            dropped[reason, default: 0] += 1
            results.append(Result(item: item))
        case .wait(let untilMs):
            held += 1
            results.append(Result(item: item, waitMs: untilMs))
        case .send(let silently):
            guard let content = facts.content else { break }
            let payload = PushPayload.text(content, badge: facts.badge, silently: silently)
            past = facts.past
            let ends = (content.atMs + PushDecision.lifeMs) / 1_000
            pushes = facts.devices.prefix(PushLimits.devicesMax).filter { !past.done.contains($0.id) }
                .map { device in
                    Push(
                        device: device, environment: device.environment, payload: payload, collapseID: item.collapseID,
                        isUrgent: !silently, expirationSecond: max(ends, nowMs / 1_000 + 3_600))
                }
            waiting = pushes.count
            (afterMs, hasFailed, isAway) = (nil, false, false)
            return .send(pushes)
        }
        index += 1
        return next(nowMs: nowMs)
    }

    /// Takes the result of the push to a device; `nil` when APNs gave no answer.
    ///
    /// Returns the next step when it was the last one of its item.
    public mutating func answered(_ device: PushDevice, _ verdict: APNsVerdict?, nowMs: Int) -> Step? {
        guard waiting > 0, index < request.items.count else { return nil }
        waiting -= 1
        switch verdict {
        case .sent, .refused: past.done.insert(device.id)
        case .dead(let untilMs):
            past.done.insert(device.id)
            dead.append((device.id, untilMs))
        case .misplaced:
            past.done.insert(device.id)
            dead.append((device.id, device.registeredMs))
        case .again(let ms):
            hasFailed = true
            afterMs = max(afterMs ?? 0, ms ?? 0)
        case .closed(let ms, _): goneAway(ms)
        case .away(let ms): goneAway(ms)
        case .expired, nil: goneAway(nil)
        }
        guard waiting == 0 else { return nil }
        return settle(nowMs: nowMs)
    }

    /// Redis did not answer: the rest of the call waits.
    public mutating func failed(nowMs: Int) -> Step {
        restMs = nowMs + 5_000
        keepTurns()
        return finish()
    }

    private mutating func goneAway(_ ms: Int?) {
        (hasFailed, isAway) = (true, true)
        afterMs = max(afterMs ?? 0, ms ?? 0)
    }

    private mutating func settle(nowMs: Int) -> Step {
        let item = request.items[index]
        if hasFailed {
            let pauseMs = max(past.pauseMs(jitter: jitter), afterMs ?? 0)
            past.tries += 1
            if isAway {
                restMs = nowMs + pauseMs
                results.append(Result(item: item, waitMs: item.score + 1, past: past))
                keepTurns()
                return finish()
            }
            results.append(Result(item: item, waitMs: nowMs + pauseMs, past: past))
        } else {
            results.append(Result(item: item))
        }
        index += 1
        return next(nowMs: nowMs)
    }

    private mutating func next(nowMs: Int) -> Step {
        guard index < request.items.count else { return finish() }
        guard nowMs < untilMs else {
            keepTurns()
            return finish()
        }
        return .read(request.items[index])
    }

    /// Keeps the order of items that were not tried; their changed time notifies the worker.
    private mutating func keepTurns() {
        results += request.items.dropFirst(results.count).map { Result(item: $0, waitMs: $0.score + 1) }
        index = request.items.count
    }

    private func finish() -> Step {
        var text = [UInt8(ascii: "{")]
        text.append(member: "results")
        text.append(arrayOf: results) { text, result in
            text.append(UInt8(ascii: "{"))
            text.append(member: "p", string: result.item.name)
            text.append(member: "s", number: result.item.score)
            if let waitMs = result.waitMs { text.append(member: "at", number: waitMs) }
            if let past = result.past {
                text.append(member: "tries", number: past.tries)
                text.append(member: "done")
                let done = past.done.sorted { $0.lexicographicallyPrecedes($1) }
                text.append(arrayOf: done) { $0.append(jsonString: $1) }
            }
            text.append(UInt8(ascii: "}"))
        }
        text.append(member: "dead")
        text.append(arrayOf: dead) { text, one in
            text.append(UInt8(ascii: "{"))
            text.append(member: "device", string: one.device)
            text.append(member: "until", number: one.untilMs)
            text.append(UInt8(ascii: "}"))
        }
        if let restMs { text.append(member: "rest", number: restMs) }
        text.append(UInt8(ascii: "}"))
        return .finish(answer: text)
    }
}
