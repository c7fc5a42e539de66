import Operations
import RedisLink

/// Proof that published events arrive, for every pair of links of a node to one server.
///
/// Each shard publishes numbers by its link for calls, and the subscriber links of all shards must receive them. A link
/// for calls is marked as failed when its number returns nowhere in time while those of other shards do. A subscriber
/// link is when it brings no number, or lacks one, that another link has brought. When no number returns at all, all
/// links are: any of them may lead to a server that is mute or no longer the right one, where writes are lost. Links
/// that lead to different processes are dialled again, too. A connection is good only once a number has returned since
/// it was made.
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

    private let intervalMs: Int
    private let timeoutMs: Int
    private var calls: [ProbedLink]
    private var subscribers: [ProbedSubscriber]
    /// By the shard that publishes, then by the one that receives.
    private var pairs: [[ProbedPair]]
    /// Since when links lead to different processes; `nil` while they do not.
    private var mismatchMs: Int?
    /// The process of which a link for calls has found that it is now a replica.
    private var demoted: [UInt8]?
    private var number = 0

    init(shards count: Int, intervalMs: Int, timeoutMs: Int) {
        calls = Array(repeating: ProbedLink(), count: count)
        subscribers = Array(repeating: ProbedSubscriber(), count: count)
        pairs = Array(repeating: Array(repeating: ProbedPair(), count: count), count: count)
        self.intervalMs = intervalMs
        self.timeoutMs = timeoutMs
    }

    // MARK: Inputs

    /// A shard's subscriber link has connected or gone down.
    mutating func subscriber(_ shard: Int, _ report: LinkReport, nowMs: Int) {
        guard subscribers.indices.contains(shard) else { return }
        subscribers[shard].link.take(report)
        subscribers[shard].isProven = false
        subscribers[shard].subscribingMs = nowMs
        subscribers[shard].silence = nil
        // Numbers on their way are lost with the connection that should have received them.
        for publisher in pairs.indices { pairs[publisher][shard].begins(nowMs: nowMs) }
    }

    /// Redis has confirmed a shard's subscription to probes.
    mutating func subscriberLive(_ shard: Int) {
        guard subscribers.indices.contains(shard) else { return }
        subscribers[shard].subscribingMs = nil
    }

    /// A shard's link for calls has connected or gone down.
    mutating func calls(_ shard: Int, _ report: LinkReport, nowMs: Int) {
        guard calls.indices.contains(shard) else { return }
        // A replica passes numbers on, so the other links would not notice.
        if case .down(let failure?) = report, failure.kind == .readOnly { demoted = calls[shard].runID ?? demoted }
        calls[shard].take(report)
        for receiver in subscribers.indices { pairs[shard][receiver].begins(nowMs: nowMs) }
    }

    /// A number of a shard returned at a shard; false when it is not the one awaited.
    mutating func returned(_ back: Int, of publisher: Int, at shard: Int, nowMs: Int) -> Bool {
        guard calls.indices.contains(publisher), subscribers.indices.contains(shard),
            pairs[publisher][shard].awaited?.number == back
        else { return false }
        pairs[publisher][shard].awaited = nil
        pairs[publisher][shard].returned = back
        pairs[publisher][shard].isProven = true
        calls[publisher].proves(nowMs: nowMs)
        subscribers[shard].link.proves(nowMs: nowMs)
        subscribers[shard].isProven = true
        waitsAnew(shard, nowMs: nowMs)
        return true
    }

    /// The wait of a subscriber link begins anew with the numbers that are still missing.
    private mutating func waitsAnew(_ shard: Int, nowMs: Int) {
        let missing = pairs.compactMap { $0[shard].awaited?.number }.min()
        subscribers[shard].silence = missing.map { ($0, nowMs) }
    }

    /// A shard's number could not be written: the link works, but its publishes would be refused, too.
    ///
    /// The shard counts as failed until a number returns, and no link is dialled again for it.
    mutating func refused(_ number: Int, shard: Int, _ failure: RedisFailure, nowMs: Int) {
        guard calls.indices.contains(shard), pairs[shard].contains(where: { $0.awaited?.number == number }) else {
            return
        }
        calls[shard].trouble = .redis(failure.kind)
        calls[shard].detail = failure.detail
        for receiver in subscribers.indices {
            pairs[shard][receiver].isProven = false
            guard pairs[shard][receiver].awaited?.number == number else { continue }
            pairs[shard][receiver].awaited = nil
            waitsAnew(receiver, nowMs: nowMs)
        }
    }

    /// A shard's mailbox was full: it did not receive the request, so its link is not marked as failed.
    mutating func undelivered(shard: Int, nowMs: Int) {
        guard calls.indices.contains(shard) else { return }
        for receiver in subscribers.indices where pairs[shard][receiver].awaited != nil {
            pairs[shard][receiver].awaited = nil
            pairs[shard][receiver].nextMs = nowMs
            if !pairs.contains(where: { $0[receiver].awaited != nil }) { subscribers[receiver].silence = nil }
        }
    }

    // MARK: Actions

    /// Called often; the time before `resumedMs`, when the process did not run, does not count against links.
    mutating func due(nowMs: Int, resumedMs: Int) -> [Step] {
        if let step = verdict(nowMs: nowMs, resumedMs: resumedMs) { return [step] }
        let able = subscribers.indices.filter { subscribers[$0].isAble }
        let asked = calls.indices.filter { publisher in
            calls[publisher].runID != nil
                && able.contains { pairs[publisher][$0].awaited == nil && nowMs >= pairs[publisher][$0].nextMs }
        }
        guard !asked.isEmpty else { return [] }
        number += 1
        for receiver in able {
            let idle = asked.filter { pairs[$0][receiver].awaited == nil }
            for publisher in idle {
                pairs[publisher][receiver].awaited = (number, nowMs)
                pairs[publisher][receiver].nextMs = nowMs + intervalMs
            }
            if !idle.isEmpty, subscribers[receiver].silence == nil { subscribers[receiver].silence = (number, nowMs) }
        }
        return [.send(number: number, shards: asked)]
    }

    private mutating func verdict(nowMs: Int, resumedMs: Int) -> Step? {
        if let replica = demoted {
            demoted = nil
            // A shard is not asked to publish without a subscriber link, so it might not notice by itself.
            let parts = everyPart().filter { runID(of: $0) == replica }
            if !parts.isEmpty { return giveUp(parts, convicted: parts, .redis(.readOnly), nowMs: nowMs) }
        }
        func isOver(_ sinceMs: Int) -> Bool { nowMs - max(sinceMs, resumedMs) >= timeoutMs }
        let differing = differingParts()
        mismatchMs = differing.isEmpty ? nil : mismatchMs ?? nowMs
        let silent = subscribers.indices.filter { subscribers[$0].silence.map { isOver($0.sinceMs) } == true }
        let blamed = partsWithLostNumbers(isOver)
        if let mismatchMs, isOver(mismatchMs) || !silent.isEmpty || blamed.isAnyLost {
            self.mismatchMs = nowMs
            return giveUp(everyPart(), convicted: differing, .redisMismatch, nowMs: nowMs)
        }
        let unconfirmed = subscribers.indices.filter { shard in
            subscribers[shard].link.runID != nil && subscribers[shard].subscribingMs.map(isOver) == true
        }
        if !unconfirmed.isEmpty {
            for shard in unconfirmed { subscribers[shard].subscribingMs = nowMs }
            let parts = unconfirmed.map { Condition.Part.subscriber($0) }
            return giveUp(parts, convicted: parts, .probeLost, nowMs: nowMs)
        }
        // The number that one link lacks has been brought, or a later one, by another: the links for calls work.
        let mute = silent.filter { shard in
            let number = subscribers[shard].silence?.number ?? 0
            return pairs.contains { row in row.indices.contains { $0 != shard && row[$0].returned >= number } }
        }
        if silent.count > mute.count { return giveUp(everyPart(), convicted: everyPart(), .probeLost, nowMs: nowMs) }
        let muted = mute.map { Condition.Part.subscriber($0) }
        let parts = muted + blamed.parts.filter { !muted.contains($0) }
        return parts.isEmpty ? nil : giveUp(parts, convicted: parts, .probeLost, nowMs: nowMs)
    }

    /// The links that lack numbers although others of the same age have returned, and whether any number is lost.
    ///
    /// A number that returned nowhere was lost by the link that published it, and any other by the one that receives.
    private func partsWithLostNumbers(_ isOver: (Int) -> Bool) -> (parts: [Condition.Part], isAnyLost: Bool) {
        var parts: [Condition.Part] = []
        var isAnyLost = false
        for publisher in calls.indices {
            for receiver in subscribers.indices {
                guard let awaited = pairs[publisher][receiver].awaited, isOver(awaited.sentMs) else { continue }
                isAnyLost = true
                // A number requested later, or at the same time, that returned proves the subscriber link.
                let isProven = pairs.contains { $0[receiver].returned >= awaited.number }
                guard isProven else { continue }
                let isPublished = pairs[publisher].contains { $0.returned >= awaited.number }
                let part: Condition.Part = isPublished ? .subscriber(receiver) : .shard(publisher)
                if !parts.contains(part) { parts.append(part) }
            }
        }
        return (parts, isAnyLost)
    }

    private mutating func giveUp(
        _ parts: [Condition.Part], convicted: [Condition.Part], _ reason: NotReadyReason, nowMs: Int
    ) -> Step {
        for part in parts {
            let isConvicted = convicted.contains(part)
            switch part {
            case .subscriber(let shard):
                subscribers[shard].link.isGivenUp = true
                subscribers[shard].silence = nil
                if isConvicted {
                    subscribers[shard].link.convict(reason)
                    subscribers[shard].isProven = false
                }
                for publisher in calls.indices { waitsForAnInterval(publisher, shard, nowMs: nowMs) }
            case .shard(let shard):
                calls[shard].isGivenUp = true
                if isConvicted { calls[shard].convict(reason) }
                for receiver in subscribers.indices {
                    waitsForAnInterval(shard, receiver, nowMs: nowMs)
                    if isConvicted { pairs[shard][receiver].isProven = false }
                }
            case .node, .master: break
            }
        }
        return .reconnect(parts, reason)
    }

    private mutating func waitsForAnInterval(_ publisher: Int, _ receiver: Int, nowMs: Int) {
        pairs[publisher][receiver].awaited = nil
        pairs[publisher][receiver].nextMs = nowMs + intervalMs
    }

    /// The parts with a connection.
    private func everyPart() -> [Condition.Part] {
        subscribers.indices.filter { subscribers[$0].link.runID != nil }.map { .subscriber($0) }
            + calls.indices.filter { calls[$0].runID != nil }.map { .shard($0) }
    }

    private func runID(of part: Condition.Part) -> [UInt8]? {
        switch part {
        case .subscriber(let shard): subscribers[shard].link.runID
        case .shard(let shard): calls[shard].runID
        case .node, .master: nil
        }
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
        let receiving = subscribers.enumerated().compactMap { shard, subscriber in
            subscriber.link.condition(
                .subscriber(shard), isProven: subscriber.isProven, isLive: subscriber.subscribingMs == nil)
        }
        return receiving
            + calls.enumerated().compactMap { shard, link in
                link.condition(.shard(shard), isProven: pairs[shard].contains(where: \.isProven))
            }
    }

    /// The reasons for which delivery is not proven: without shards that only wait for a subscriber.
    var conditions: [Condition] {
        let all = unproven
        guard all.first?.part.shard != nil else { return all }
        return all.filter { $0.part.shard != nil || $0.reason != .unproven }
    }

    /// When a number last returned by the link that waits longest; `nil` while one link never returned any.
    var provenMs: Int? {
        var oldest: Int?
        for link in calls + subscribers.map(\.link) where link.report != .ended {
            guard let provenMs = link.provenMs else { return nil }
            oldest = min(oldest ?? provenMs, provenMs)
        }
        return oldest
    }
}
