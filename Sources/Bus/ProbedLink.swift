import Operations
import RedisLink

/// State of a link of a shard, as ``DeliveryProbes`` judges it.
struct ProbedLink {
    var report = LinkReport.down(nil)
    /// The failure of the link; it holds until a number returns or a dial fails for another reason.
    var trouble: NotReadyReason?
    /// The server's text about it, for the log.
    var detail = ""
    /// Marked as failed, and not yet seen to go down: that is then the node's own doing.
    var isGivenUp = false
    var provenMs: Int?

    /// The run id of the server process; `nil` while not connected.
    var runID: [UInt8]? {
        if case .up(let runID) = report { return runID }
        return nil
    }

    mutating func take(_ report: LinkReport) {
        self.report = report
        guard case .down = report else { return }
        // A connection that was given up ends by this node's decision, not by a failure of its own.
        if isGivenUp { self.report = .down(nil) } else { trouble = nil }
        isGivenUp = false
    }

    mutating func convict(_ reason: NotReadyReason) {
        trouble = reason
        detail = ""
    }

    mutating func proves(nowMs: Int) {
        trouble = nil
        isGivenUp = false
        provenMs = nowMs
    }

    func condition(_ part: Condition.Part, isProven: Bool, isLive: Bool = true) -> Condition? {
        switch report {
        case .ended: return nil
        case .down(let failure):
            let reason = trouble ?? failure.map { .redis($0.kind) } ?? .connecting
            return Condition(part, reason, detail: failure?.detail ?? "")
        case .up:
            if let trouble { return Condition(part, trouble, detail: detail) }
            guard !isProven else { return nil }
            return Condition(part, isLive ? .unproven : .subscribing)
        }
    }
}

/// State of the link by which a shard receives events.
struct ProbedSubscriber {
    var link = ProbedLink()
    /// Whether a number has returned since its connection was made.
    var isProven = false
    /// Since when the subscription to probes is unconfirmed; `nil` when it is confirmed.
    var subscribingMs: Int?
    /// The first number that is missing, and since when none has returned, whatever happened to links for calls.
    ///
    /// `nil` when none is missing.
    var silence: (number: Int, sinceMs: Int)?

    /// Whether it can receive numbers.
    var isAble: Bool { link.runID != nil && subscribingMs == nil }
}

/// A link for calls, and the subscriber link that must bring its numbers.
struct ProbedPair {
    /// The number that must return, and when it was requested.
    var awaited: (number: Int, sentMs: Int)?
    var nextMs = 0
    /// The last number that returned.
    var returned = 0
    /// Whether one has returned since both connections were made.
    var isProven = false

    mutating func begins(nowMs: Int) {
        awaited = nil
        isProven = false
        nextMs = nowMs
    }
}
