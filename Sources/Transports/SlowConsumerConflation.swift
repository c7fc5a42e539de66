import Connections
import Core
import Dialects
import Rights
import Sessions
import Topics

/// Thins the queue of a client that reads too slowly, as the namespaces of its topics allow.
///
/// Thread: the shard's.
struct SlowConsumerConflation {
    let connection: Connection
    let access: AccessPolicy
    let limits: Limits
    /// The encoding of a topic's gap; `nil` where its events must not be thinned.
    let encoding: (Topic) -> Encoding?
    /// Monotonic milliseconds.
    let nowMs: Int
    /// Number of gaps put into the queue.
    private(set) var gaps = 0
    /// The events that newer ones replaced, by topic.
    private(set) var replaced: [Topic: ReplacedEvents] = [:]

    init(
        _ connection: Connection, access: AccessPolicy, limits: Limits, nowMs: Int,
        encoding: @escaping (Topic) -> Encoding?
    ) {
        self.connection = connection
        self.access = access
        self.limits = limits
        self.encoding = encoding
        self.nowMs = nowMs
    }

    /// Thins the queue; false when the client must be closed and resume by position.
    ///
    /// Backlog that the client requested by position does not count as slowness.
    mutating func thin(_ bound: OutboundBound) -> Bool {
        let before = connection.queuedBytes
        let frames = connection.waitingFrames()
        let oldMs = nowMs - limits.outboundAgeMs
        var waiting: [Conflation.Waiting?] = []
        waiting.reserveCapacity(frames.count)
        var (mayThin, isOld, isBacklog) = (false, false, false)
        for frame in frames {
            isBacklog = isBacklog || frame.isBacklog
            guard let entry = entry(frame) else {
                waiting.append(nil)
                continue
            }
            let isPast = !frame.isBacklog && frame.enqueuedMs <= oldMs
            if entry.losesNothing && bound == .age && isPast { return false }
            if !entry.losesNothing && !frame.isBacklog {
                mayThin = true
                isOld = isOld || isPast
            }
            waiting.append(entry.waiting)
        }
        if bound == .age {
            guard mayThin || isBacklog else { return false }
            if !isOld { return true }
        }
        guard mayThin else { return false }
        apply(Conflation.fates(waiting), waiting)
        if bound == .total { return connection.queuedBytes <= before / 2 }
        return connection.unowedBytes <= limits.outboundBytesMax / 2
    }

    private func entry(_ frame: WaitingFrame) -> (waiting: Conflation.Waiting, losesNothing: Bool)? {
        if let notice = frame.item as? GapNotice {
            let waiting = Conflation.Waiting(
                topic: notice.topic, position: notice.position, key: nil, isGap: true, isFixed: frame.hasBegun)
            return (waiting, false)
        }
        guard let delivery = frame.item as? Delivery else { return nil }
        var waiting = Conflation.Waiting(
            topic: delivery.topic, position: delivery.message.position, key: nil, isFixed: true)
        switch delivery.slowRule(access, limits.answers) {
        case .disconnect:
            return (waiting, true)
        case .conflate where encoding(delivery.topic) == nil:
            return (waiting, true)
        case .conflate(let key):
            waiting = Conflation.Waiting(
                topic: delivery.topic, position: delivery.message.position, key: key,
                isFixed: frame.hasBegun || frame.isBacklog)
            return (waiting, false)
        }
    }

    private mutating func apply(_ fates: [Conflation.Fate], _ waiting: [Conflation.Waiting?]) {
        for (fate, entry) in zip(fates, waiting) where fate != .keep {
            guard let entry, !entry.isGap, let position = entry.position else { continue }
            replaced[entry.topic, default: ReplacedEvents(epoch: position.epoch)].add(position)
        }
        connection.thin(zip(fates, waiting).map { fate, entry in entry.map { frameFate(fate, $0.topic) } ?? .keep })
        gaps += fates.count { fate in
            if case .gap = fate { return true }
            return false
        }
    }

    private func frameFate(_ fate: Conflation.Fate, _ topic: Topic) -> FrameFate {
        switch fate {
        case .keep: return .keep
        case .drop: return .conflate
        case .gap(let position):
            guard let frame = encoding(topic)?.gap(topic, position, .conflated) else { return .keep }
            return .replace(frame, GapNotice(topic: topic, position: position))
        }
    }
}
