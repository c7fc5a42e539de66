internal import Core
internal import Reactors

/// The queue of frames, and the treatment of a queue that is too long.
extension Connection {
    /// Bytes waiting to be written.
    public var queuedBytes: Int { outbound.queue.byteCount }
    /// The bytes that wait for the peer, and since when.
    public var load: QueueLoad { QueueLoad(bytes: outbound.queue.byteCount, oldestMs: outbound.queue.oldestMs) }

    /// The waiting bytes that count against the bound: a requested backlog is no sign of a slow reader.
    public var unowedBytes: Int { outbound.unowedBytes }

    /// Queues a frame for this tick's flush; `false` and without effect when it would exceed the byte limit.
    ///
    /// The same for a connection that is not open.
    public func send(_ frame: [UInt8]) -> Bool {
        send(frame, item: nil)
    }

    /// Queues a frame and counts its fate in its item's counts: a refused one as dropped.
    ///
    /// `isBacklog`: the frame belongs to a backlog that the peer requested; it may wait beyond the bound.
    public func send(_ frame: [UInt8], item: OutboundItem?, isBacklog: Bool = false) -> Bool {
        var offer = self.offer(frame, item, isBacklog: isBacklog, isBounded: true)
        if offer == .refused, makesRoom(for: frame.count, isBacklog: isBacklog) {
            offer = self.offer(frame, item, isBacklog: isBacklog, isBounded: false)
        }
        guard offer != .refused else {
            let isSlow = isOpen || endReason == .slowConsumer
            if isSlow { item?.counts.droppedSlow += 1 } else { item?.counts.droppedGone += 1 }
            if let item, item.isCounted { context.statistics.itemsDropped.add(1) }
            return false
        }
        took(frame.count, offer)
        return true
    }

    /// Queues a burst for this tick's flush; `false` and without effect when it would exceed a bound as a whole.
    ///
    /// The caller then sends its frames one by one.
    public func send(_ burst: OutboundBurst) -> Bool {
        let offer = self.offer(burst.frame, burst, isBacklog: false, isBounded: true)
        guard offer != .refused else { return false }
        took(burst.frame.count, offer)
        return true
    }

    private func took(_ bytes: Int, _ offer: Outbound.Offer) {
        context.statistics.queuedBytes.add(bytes)
        if offer == .wantsFlush, let token { context.reactor.markDirty(token) }
    }

    private func offer(_ frame: [UInt8], _ item: OutboundItem?, isBacklog: Bool, isBounded: Bool) -> Outbound.Offer {
        outbound.offer(
            frame, item: item, isBacklog: isBacklog, nowMs: context.reactor.nowMs,
            bytesMax: isBounded ? outboundBytesMax : Int.max, hasRoom: !isBounded || hasRoom(for: frame.count))
    }

    /// Whether all connections together are within their bound with so many bytes more.
    private func hasRoom(for bytes: Int) -> Bool {
        !isClient || context.statistics.queuedBytes.value + bytes <= context.limits.outboundTotalBytesMax
    }

    /// Relieves the largest queues, or has this one thinned, for a frame that exceeds a bound; returns whether it may
    /// wait.
    private func makesRoom(for bytes: Int, isBacklog: Bool) -> Bool {
        guard isOpen else { return false }
        if !hasRoom(for: bytes) {
            context.makeRoom(for: bytes)
            guard isOpen else { return false }
        }
        if outbound.fits(bytes, isBacklog: isBacklog, bytesMax: outboundBytesMax) { return true }
        guard let handler, handler.readTooSlowly(.bytes), isOpen else { return false }
        return unowedBytes + bytes <= outboundBytesMax
    }

    /// Requests a flush in this tick, or in the next one when flushing already.
    func askForFlush() {
        if outbound.asksForFlush(), let token { context.reactor.markDirty(token) }
    }

    /// Thins or closes a connection whose queue is among the largest when all queues together are too long.
    func relieve() {
        if handler?.readTooSlowly(.total) != true { close(.slowConsumer, discarding: true) }
    }

    // MARK: Age

    /// The time of the next check of the oldest frame's age.
    var ageDeadlineMs: Int? {
        outbound.queue.oldestMs.map { max($0 + context.limits.outboundAgeMs, outbound.nextAgeCheckMs) }
    }

    /// Whether a connection whose oldest byte has waited too long may stay open; it is checked again soon.
    func mayLive(_ nowMs: Int) -> Bool {
        let ageMs = context.limits.outboundAgeMs
        let isStuck = nowMs - outbound.progressMs >= 2 * ageMs
        guard handler?.readTooSlowly(isStuck ? .stuck : .age) == true, !isStuck else { return false }
        outbound.nextAgeCheckMs = nowMs + max(1, ageMs / 4)
        return true
    }

    // MARK: Thinning

    /// The waiting frames, in order, for a thinning decision; bursts are split into frames from now on.
    public func waitingFrames() -> [WaitingFrame] {
        splitBursts()
        return outbound.queue.waiting(pinned: outbound.pinned)
    }

    /// The items of the waiting frames, in order, those of bursts one by one.
    public var waitingItems: [OutboundItem] { outbound.queue.items }

    /// The first of these that matches, found without a list of them.
    public func firstWaiting(where matches: (OutboundItem) -> Bool) -> OutboundItem? {
        outbound.queue.firstItem(where: matches)
    }

    func splitBursts() {
        context.statistics.itemsWritten.add(outbound.queue.splitBursts())
    }

    /// Removes or replaces frames of the queue; a fate for each of ``waitingFrames()``.
    ///
    /// A frame whose write has begun stays, regardless of its fate.
    public func thin(_ fates: [FrameFate]) {
        let before = outbound.queue.byteCount
        context.statistics.itemsConflated.add(outbound.queue.thin(fates, pinned: outbound.pinned))
        context.statistics.queuedBytes.add(outbound.queue.byteCount - before)
    }
}
