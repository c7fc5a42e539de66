internal import Core
internal import Reactors

/// How frames are queued, and what happens when too much waits.
extension Connection {
    /// Bytes waiting to be written.
    public var queuedBytes: Int { queue.byteCount }

    /// Of them, those that count against the bound: what the peer asked for at once is not slowness.
    public var unowedBytes: Int { queue.byteCount - queue.owedBytes }

    /// Whether it is somebody's to us, rather than ours to a server.
    var isClient: Bool { admission != nil }

    /// Queues a frame for this tick's flush; false, and nothing queued, when it would exceed the byte limit or the
    /// connection is not open.
    public func send(_ frame: [UInt8]) -> Bool {
        send(frame, item: nil)
    }

    /// Queues a frame and counts what becomes of it in its item's counts: a refused one as dropped.
    ///
    /// `isOwed`: the peer asked for it at once; it may wait beyond the bound.
    public func send(_ frame: [UInt8], item: OutboundItem?, isOwed: Bool = false) -> Bool {
        guard takes(frame.count, isOwed: isOwed), let token else {
            let isSlow = isOpen || endReason == .slowConsumer
            if isSlow { item?.counts.droppedSlow += 1 } else { item?.counts.droppedGone += 1 }
            if let item, item.isCounted { context.statistics.itemsDropped.add(1) }
            return false
        }
        if queue.isEmpty { progressMs = context.reactor.nowMs }
        queue.append(frame, item: item, isOwed: isOwed, nowMs: context.reactor.nowMs)
        context.statistics.queuedBytes.add(frame.count)
        if !isWriteBlocked { context.reactor.markDirty(token, isBulk: item?.isBulk ?? false) }
        return true
    }

    private func takes(_ bytes: Int, isOwed: Bool) -> Bool {
        guard isOpen else { return false }
        // A connection that has read everything may always be sent one more frame; the bounds are for the others.
        if queue.isEmpty { return true }
        if isClient, context.statistics.queuedBytes.value + bytes > context.limits.outboundTotalBytesMax {
            context.makeRoom(for: bytes)
            guard isOpen else { return false }
        }
        if isOwed || unowedBytes + bytes <= outboundBytesMax { return true }
        guard let handler, handler.readTooSlowly(.bytes), isOpen else { return false }
        return unowedBytes + bytes <= outboundBytesMax
    }

    /// Thins or closes a connection whose queue is among the largest when all together wait for too much.
    func relieve() {
        if handler?.readTooSlowly(.total) != true { close(.slowConsumer, discarding: true) }
    }

    // MARK: Age

    /// When what waits is to be looked at for its age.
    var ageDeadlineMs: Int? { queue.oldestMs.map { max($0 + context.limits.outboundAgeMs, nextAgeCheckMs) } }

    /// Whether a connection whose oldest byte has waited too long may live; it is looked at again soon.
    func mayLive(_ nowMs: Int) -> Bool {
        let ageMs = context.limits.outboundAgeMs
        let isStuck = nowMs - progressMs >= 2 * ageMs
        guard handler?.readTooSlowly(isStuck ? .stuck : .age) == true, !isStuck else { return false }
        nextAgeCheckMs = nowMs + max(1, ageMs / 4)
        return true
    }

    // MARK: Thinning

    /// What waits, in order, for whoever decides what of it may go.
    public func waitingFrames() -> [WaitingFrame] {
        queue.waiting(pinned: pinned)
    }

    /// Takes frames out of the queue, or puts others in their place; a fate for each of ``waitingFrames()``.
    ///
    /// What has begun to be written stays whatever its fate says.
    public func thin(_ fates: [FrameFate]) {
        let before = queue.byteCount
        context.statistics.itemsConflated.add(queue.thin(fates, pinned: pinned))
        context.statistics.queuedBytes.add(queue.byteCount - before)
    }
}
