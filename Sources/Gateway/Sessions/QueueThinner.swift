import Core
import Dialects
import Reactors
import Transport
import WebSocketCodec

/// Thins the queue of a client that reads too slowly, as the namespaces of its topics allow (failures.md C1).
///
/// Thread: the shard's.
struct QueueThinner {
    let session: Session
    let connection: Connection

    /// Thins the queue; false when the client must be closed and resume by position.
    ///
    /// What it is owed is no slowness: it asked for it by its position.
    func thin(_ bound: OutboundBound) -> Bool {
        let before = connection.queuedBytes
        let frames = connection.waitingFrames()
        let oldMs = session.shard.nowMs - session.shard.limits.outboundAgeMs
        var waiting: [Conflation.Waiting?] = []
        waiting.reserveCapacity(frames.count)
        var (mayThin, isOld, isOwed) = (false, false, false)
        for frame in frames {
            isOwed = isOwed || frame.isOwed
            guard let entry = entry(frame) else {
                waiting.append(nil)
                continue
            }
            let isPast = !frame.isOwed && frame.enqueuedMs <= oldMs
            if entry.losesNothing && bound == .age && isPast { return false }
            if !entry.losesNothing && !frame.isOwed {
                mayThin = true
                isOld = isOld || isPast
            }
            waiting.append(entry.waiting)
        }
        if bound == .age {
            guard mayThin || isOwed else { return false }
            if !isOld { return true }
        }
        guard mayThin else { return false }
        apply(Conflation.fates(waiting), waiting)
        if bound == .total { return connection.queuedBytes <= before / 2 }
        return connection.unowedBytes <= session.shard.limits.outboundBytesMax / 2
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
        switch delivery.slowRule(session.shard.node.access, session.shard.limits.json) {
        case .disconnect:
            return (waiting, true)
        case .conflate(let key):
            waiting = Conflation.Waiting(
                topic: delivery.topic, position: delivery.message.position, key: key,
                isFixed: frame.hasBegun || frame.isOwed)
            return (waiting, false)
        }
    }

    private func apply(_ fates: [Conflation.Fate], _ waiting: [Conflation.Waiting?]) {
        var gaps = 0
        connection.thin(
            zip(fates, waiting).map { fate, entry in
                guard let entry else { return .keep }
                switch fate {
                case .keep: return .keep
                case .drop: return .conflate
                case .gap(let position):
                    gaps += 1
                    let message = ServerMessage.gap(topic: entry.topic, position: position, reason: .conflated)
                    let payload = session.dialect.encode(message, ref: nil)
                    return .replace(
                        WebSocketEncoder.frame(.text, payload: payload),
                        GapNotice(topic: entry.topic, position: position))
                }
            })
        session.shard.statistics.gaps.add(gaps)
    }
}
