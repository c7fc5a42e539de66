import Operations
import RedisLink

/// Proof that published events arrive, for every link of a node.
///
/// Each shard publishes numbers by the link for its publishes, and the subscriber link must receive them. If a number
/// does not return in time while those of other shards did, the shard's link is marked as failed. Otherwise all links
/// are: any of them may lead to a server that is mute or no longer the right one, where writes are lost. Links that
/// lead to different processes are dialled again, too. A connection is good only once a number has returned since it
/// was made.
///
/// Pure: time is a parameter, monotonic milliseconds.
struct DeliveryProbes {
    /// The action to take now.
    enum Step: Equatable {
        /// These shards publish this number.
        case send(number: Int, shards: [Int])
        /// Dial the links of these parts again.
        case reconnect([Condition.Part], NotReadyReason)
    }

    private struct Link {
        var report = LinkReport.down(nil)
        /// The failure of the link; it holds until a number returns or a dial fails for another reason.
        var trouble: NotReadyReason?
        /// The server's text about it, for the log.
        var detail = ""
        /// Marked as failed, and not yet seen to go down: that is then the node's own doing.
        var isGivenUp = false
        /// Whether a number has returned since its connections were made.
        var isProven = false
        var provenMs: Int?

        /// The run id of the server process; `nil` while not connected.
        var runID: [UInt8]? {
            if case .up(let runID) = report { return runID }
            return nil
        }

        mutating func take(_ report: LinkReport) {
            isProven = false
            self.report = report
            guard case .down = report else { return }
            // A connection that was given up ends by this node's decision, not by a failure of its own.
            if isGivenUp { self.report = .down(nil) } else { trouble = nil }
            isGivenUp = false
        }

        mutating func convict(_ reason: NotReadyReason) {
            trouble = reason
            detail = ""
            isGivenUp = true
            isProven = false
        }

        func condition(_ part: Condition.Part, isLive: Bool = true) -> Condition? {
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

    private struct Shard {
        var link = Link()
        /// The number that must return, and when it was requested.
        var awaited: (number: Int, sentMs: Int)?
        var nextMs = 0
        /// The last number that returned.
        var returned = 0
    }

    private let intervalMs: Int
    private let timeoutMs: Int
    private var shards: [Shard]
    private var subscriber = Link()
    /// Since when the subscription to probes is unconfirmed; `nil` when it is confirmed.
    private var subscribingMs: Int?
    /// Since when a number has been requested without any returning, whatever happened to the links.
    ///
    /// `nil` when none is missing.
    private var silentMs: Int?
    /// Since when links lead to different processes; `nil` while they do not.
    private var mismatchMs: Int?
    /// Whether a shard's link found that the process behind the subscriber link is now a replica.
    private var isDemoted = false
    private var number = 0

    init(shards count: Int, intervalMs: Int, timeoutMs: Int) {
        shards = Array(repeating: Shard(), count: count)
        self.intervalMs = intervalMs
        self.timeoutMs = timeoutMs
    }

    // MARK: Inputs

    /// The subscriber link has connected or gone down.
    mutating func subscriber(_ report: LinkReport, nowMs: Int) {
        subscriber.take(report)
        subscribingMs = nowMs
        silentMs = nil
        isDemoted = false
        // Numbers on their way are lost with the connection that should have received them.
        for index in shards.indices {
            shards[index].link.isProven = false
            shards[index].awaited = nil
            shards[index].nextMs = nowMs
        }
    }

    /// Redis has confirmed the subscription to probes.
    mutating func subscriberLive() {
        subscribingMs = nil
    }

    /// A shard's link has connected or gone down.
    mutating func shard(_ index: Int, _ report: LinkReport, nowMs: Int) {
        guard shards.indices.contains(index) else { return }
        if case .down(let failure?) = report, failure.kind == .readOnly, let runID = shards[index].link.runID {
            // A replica passes numbers on, so the other links would not notice.
            isDemoted = runID == subscriber.runID
        }
        shards[index].link.take(report)
        shards[index].awaited = nil
        shards[index].nextMs = nowMs
    }

    /// A number returned; false when it is not the one awaited.
    mutating func returned(_ back: Int, shard index: Int, nowMs: Int) -> Bool {
        guard shards.indices.contains(index), shards[index].awaited?.number == back else { return false }
        shards[index].awaited = nil
        shards[index].returned = back
        silentMs = shards.contains { $0.awaited != nil } ? nowMs : nil
        prove(&shards[index].link, nowMs: nowMs)
        prove(&subscriber, nowMs: nowMs)
        return true
    }

    private func prove(_ link: inout Link, nowMs: Int) {
        link.trouble = nil
        link.isGivenUp = false
        link.isProven = true
        link.provenMs = nowMs
    }

    /// A shard's number could not be written: the link works, but its publishes would be refused, too.
    ///
    /// The shard counts as failed until a number returns, and no link is dialled again for it.
    mutating func refused(_ number: Int, shard index: Int, _ failure: RedisFailure, nowMs: Int) {
        guard shards.indices.contains(index), shards[index].awaited?.number == number else { return }
        shards[index].awaited = nil
        shards[index].link.isProven = false
        shards[index].link.trouble = .redis(failure.kind)
        shards[index].link.detail = failure.detail
        silentMs = shards.contains { $0.awaited != nil } ? nowMs : nil
    }

    /// A shard's mailbox was full: it did not receive the request, so its link is not marked as failed.
    mutating func undelivered(shard index: Int, nowMs: Int) {
        guard shards.indices.contains(index), shards[index].awaited != nil else { return }
        shards[index].awaited = nil
        shards[index].nextMs = nowMs
        if !shards.contains(where: { $0.awaited != nil }) { silentMs = nil }
    }

    // MARK: Actions

    /// Called often; the time before `resumedMs`, when the process did not run, does not count against links.
    mutating func due(nowMs: Int, resumedMs: Int) -> [Step] {
        if let step = verdict(nowMs: nowMs, resumedMs: resumedMs) { return [step] }
        guard subscriber.runID != nil, subscribingMs == nil else { return [] }
        let ready = shards.indices.filter { index in
            let shard = shards[index]
            return shard.link.runID != nil && shard.awaited == nil && nowMs >= shard.nextMs
        }
        guard !ready.isEmpty else { return [] }
        number += 1
        silentMs = silentMs ?? nowMs
        for index in ready {
            shards[index].awaited = (number, nowMs)
            shards[index].nextMs = nowMs + intervalMs
        }
        return [.send(number: number, shards: ready)]
    }

    private mutating func verdict(nowMs: Int, resumedMs: Int) -> Step? {
        if isDemoted {
            isDemoted = false
            // Without the subscriber link no shard is asked to publish, so none would notice by itself.
            let parts = everyPart().filter { runID(of: $0) == subscriber.runID }
            return giveUp(parts, convicted: parts, .redis(.readOnly), nowMs: nowMs)
        }
        func isOver(_ sinceMs: Int) -> Bool { nowMs - max(sinceMs, resumedMs) >= timeoutMs }
        let differing = differingParts()
        mismatchMs = differing.isEmpty ? nil : mismatchMs ?? nowMs
        let lost = shards.indices.filter { index in shards[index].awaited.map { isOver($0.sentMs) } == true }
        let isSilent = silentMs.map(isOver) == true
        if let mismatchMs, isOver(mismatchMs) || isSilent || !lost.isEmpty {
            self.mismatchMs = nowMs
            return giveUp(everyPart(), convicted: differing, .redisMismatch, nowMs: nowMs)
        }
        if let subscribingMs, subscriber.runID != nil, isOver(subscribingMs) {
            self.subscribingMs = nowMs
            return giveUp([.subscriber], convicted: [.subscriber], .probeLost, nowMs: nowMs)
        }
        if isSilent {
            silentMs = nil
            return giveUp(everyPart(), convicted: everyPart(), .probeLost, nowMs: nowMs)
        }
        // A number requested later, or at the same time, that returned proves the subscriber link.
        let convicted = lost.filter { index in
            let number = shards[index].awaited?.number ?? 0
            return shards.indices.contains { $0 != index && shards[$0].returned >= number }
        }
        guard !convicted.isEmpty else { return nil }
        let parts = convicted.map { Condition.Part.shard($0) }
        return giveUp(parts, convicted: parts, .probeLost, nowMs: nowMs)
    }

    private mutating func giveUp(
        _ parts: [Condition.Part], convicted: [Condition.Part], _ reason: NotReadyReason, nowMs: Int
    ) -> Step {
        for part in parts {
            switch part {
            case .subscriber:
                subscriber.isGivenUp = true
                if convicted.contains(part) { subscriber.convict(reason) }
            case .shard(let index):
                shards[index].awaited = nil
                shards[index].nextMs = nowMs + intervalMs
                shards[index].link.isGivenUp = true
                if convicted.contains(part) { shards[index].link.convict(reason) }
            case .node, .master: break
            }
        }
        return .reconnect(parts, reason)
    }

    /// The parts with a connection.
    private func everyPart() -> [Condition.Part] {
        var parts: [Condition.Part] = subscriber.runID == nil ? [] : [.subscriber]
        for index in shards.indices where shards[index].link.runID != nil { parts.append(.shard(index)) }
        return parts
    }

    private func runID(of part: Condition.Part) -> [UInt8]? {
        if case .shard(let index) = part { return shards[index].link.runID }
        return subscriber.runID
    }

    /// The parts that lead to another process than most; all where no process has a majority, none where all agree.
    private func differingParts() -> [Condition.Part] {
        let parts = everyPart()
        guard let first = parts.first, parts.contains(where: { runID(of: $0) != runID(of: first) }) else { return [] }
        for candidate in parts {
            let others = parts.filter { runID(of: $0) != runID(of: candidate) }
            if others.count * 2 < parts.count { return others }
        }
        return parts
    }

    // MARK: State

    /// Every part that is not proven.
    var unproven: [Condition] {
        var result: [Condition] = []
        if let condition = subscriber.condition(.subscriber, isLive: subscribingMs == nil) { result.append(condition) }
        for index in shards.indices {
            if let condition = shards[index].link.condition(.shard(index)) { result.append(condition) }
        }
        return result
    }

    /// The reasons for which delivery is not proven: without shards that only wait for the subscriber.
    var conditions: [Condition] {
        let all = unproven
        guard all.first?.part == .subscriber else { return all }
        return all.filter { $0.part == .subscriber || $0.reason != .unproven }
    }

    /// When a number last returned by the link that waits longest; `nil` while one link never returned any.
    var provenMs: Int? {
        var oldest: Int?
        for shard in shards where shard.link.report != .ended {
            guard let provenMs = shard.link.provenMs else { return nil }
            oldest = min(oldest ?? provenMs, provenMs)
        }
        return oldest
    }
}
