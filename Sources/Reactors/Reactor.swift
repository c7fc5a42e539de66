internal import CLinux
internal import Glibc

/// One thread's event loop: epoll, timers, and the phases that every tick runs in the same order.
///
/// The phases are wait, mailbox, reads, timers, flush, late and free. Callbacks mark, phases act: nothing is written or
/// freed inside another source's callback. Thread: confined to the thread that made it; its `Sendable` is unavailable, so
/// the compiler does not let it cross threads.
public final class Reactor {
    /// Monotonic milliseconds at the start of this tick's work; the whole tick uses this one clock reading.
    public var nowMs: Int { clockMs.value }
    /// Monotonic microseconds at the start of this tick's work.
    public var nowUs: Int { clockUs.value }
    /// The last time at which a wait ended much too late, because the process or machine was stopped.
    ///
    /// Monotonic milliseconds; `Int.min` when it never did. Code that waited for a peer during the stall could not
    /// receive its answer.
    public private(set) var stalledMs = Int.min
    /// The number of this tick.
    public private(set) var tick = 0
    /// Figures of this loop, readable from any thread.
    public let statistics = LoopStatistics()
    /// Ends the wait from other threads; mailboxes use it.
    public let wake: Wake
    /// Phase 2: takes the thread's messages.
    ///
    /// Set once before ``run()``.
    public var onMailbox: () -> Void = {}
    /// Called once in each tick after mailbox, reads and timers: work gathered in them is done before any flush.
    public var onTurnEnd: () -> Void = {}
    /// Called once in each tick at the beginning of phase 5, before the first ``EventSource/flush()``.
    public var onFlush: () -> Void = {}
    /// The time at which ``onAlarm`` is called, monotonic milliseconds; then it becomes `Int.max`.
    ///
    /// It is exact to the millisecond, while deadlines of sources may be a few later.
    public var alarmMs = Int.max
    /// Called in the timer phase once ``alarmMs`` has passed.
    public var onAlarm: () -> Void = {}
    /// Called once in each tick before the wait, after all flushes and frees.
    public var onTickEnd: () -> Void = {}

    private let epoll: FileDescriptor
    private let clockMs = Tally()
    private let clockUs = Tally()
    private var table = SlotTable()
    private var wheel: TimerWheel
    private let events = EventBuffer(capacity: 512)
    private var dirty: [EventToken] = []
    private var readable: [EventToken] = []
    private var late: [EventToken] = []
    private var removed: [EventToken] = []
    private var due: [EventToken] = []
    private var isStopping = false

    private static let wakeToken = UInt64.max

    /// Makes a loop on the calling thread, which `wake` wakes.
    public init(wake: Wake) throws(Errno) {
        epoll = try DescriptorReserve.unreserved(FileDescriptor(owning: try retrying { epoll_create1(SWB_CLOEXEC) }))
        self.wake = wake
        let nowMs = Clock.monotonicMs()
        clockMs.set(nowMs)
        clockUs.set(nowMs * 1_000)
        wheel = TimerWheel(nowMs: nowMs)
        let (poll, wakeDescriptor) = (epoll.raw, wake.raw)
        _ = try retrying { swb_epoll_ctl(poll, EPOLL_CTL_ADD, wakeDescriptor, EPOLLIN.rawValue, Reactor.wakeToken) }
    }

    // MARK: Sources

    /// Adds a source; a descriptor is watched for `interest`, and a source without one is a bare timer.
    public func add(_ source: any EventSource, descriptor: Int32? = nil, interest: Readiness = []) throws(Errno)
        -> EventToken
    {
        let token = table.add(source)
        guard let descriptor else { return token }
        do {
            let (poll, mask) = (epoll.raw, Reactor.mask(interest))
            _ = try retrying { swb_epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, mask, token.raw) }
        } catch {
            _ = table.free(token)
            throw error
        }
        table.watches(token, descriptor, interest)
        return token
    }

    /// Changes the readiness that a descriptor is watched for; does nothing when it stays the same.
    public func setInterest(_ token: EventToken, _ interest: Readiness) {
        guard let descriptor = table.changes(token, to: interest) else { return }
        // It fails only for an unregistered descriptor or without kernel memory; then the source's deadline ends it.
        _ = swb_epoll_ctl(epoll.raw, EPOLL_CTL_MOD, descriptor, Reactor.mask(interest), token.raw)
    }

    /// Sets the source's one deadline; `Int.max` for none.
    ///
    /// Moving it later is cheap, since that sets no new timer.
    public func setDeadline(_ token: EventToken, at deadlineMs: Int) {
        if table.setDeadline(token, at: deadlineMs) { wheel.schedule(token, atMs: deadlineMs) }
    }

    /// Requests ``EventSource/flush()`` in this tick's flush phase, or in the next tick's during that phase.
    public func markDirty(_ token: EventToken) {
        if table.mark(token, .flush) { dirty.append(token) }
    }

    /// Requests ``EventSource/ready(_:)`` with `.read` in the next tick, without waiting for the kernel.
    public func markReadable(_ token: EventToken) {
        if table.mark(token, .readable) { readable.append(token) }
    }

    /// Requests ``EventSource/late()`` in this tick's late phase, or in the next tick's during that phase.
    ///
    /// Work that takes long belongs there: by then the tick's events are sent, and none waits for it.
    public func markLate(_ token: EventToken) {
        if table.mark(token, .late) { late.append(token) }
    }

    /// Stops watching a source and frees it in phase 7 of this tick.
    public func remove(_ token: EventToken) {
        guard table.mark(token, .removed) else { return }
        // It is explicit, since close(2) deregisters only the last duplicate of a descriptor (epoll(7)).
        if let descriptor = table.unwatch(token) { _ = swb_epoll_ctl(epoll.raw, EPOLL_CTL_DEL, descriptor, 0, 0) }
        removed.append(token)
    }

    /// The source of a token; `nil` when it was removed.
    public func source(_ token: EventToken) -> (any EventSource)? {
        table.source(token)
    }

    /// Calls the body for every source that is not removed; the body must not add one.
    public func forEachSource(_ body: (any EventSource) -> Void) {
        for index in 0..<table.count {
            if let source = table.source(at: index) { body(source) }
        }
    }

    /// Ends ``run()`` after this tick.
    public func stop() {
        isStopping = true
    }

    private static func mask(_ interest: Readiness) -> UInt32 {
        var mask: UInt32 = 0
        if interest.contains(.read) { mask |= EPOLLIN.rawValue | EPOLLRDHUP.rawValue }
        if interest.contains(.write) { mask |= EPOLLOUT.rawValue }
        return mask
    }

    // MARK: The loop

    /// Runs until ``stop()``; may run again after that.
    public func run() {
        isStopping = false
        clockMs.set(Clock.monotonicMs())
        while !isStopping {
            let timeoutMs = waitMs()
            let count = waitForEvents(timeoutMs: timeoutMs)
            let startUs = Clock.monotonicUs()
            noticeStall(nowMs: startUs / 1_000, timeoutMs: timeoutMs)
            clockMs.set(startUs / 1_000)
            clockUs.set(startUs)
            tick &+= 1
            if acknowledgeWake(among: count) { onMailbox() }
            deliverReads(count)
            fireTimers()
            onTurnEnd()
            flushDirty()
            workLate()
            freeRemoved()
            onTickEnd()
            let endUs = Clock.monotonicUs()
            statistics.record(durationUs: endUs - startUs, nowMs: endUs / 1_000)
        }
    }

    /// Notices a stop from outside: a wait ends at its timeout and a tick's work is short, so a second more than both
    /// is one.
    private func noticeStall(nowMs now: Int, timeoutMs: Int32) {
        if timeoutMs >= 0 && now - nowMs > Int(timeoutMs) + 1_000 { stalledMs = now }
    }

    private func waitMs() -> Int32 {
        if !dirty.isEmpty || !readable.isEmpty || !late.isEmpty || !removed.isEmpty { return 0 }
        let now = Clock.monotonicMs()
        let wait = min(wheel.waitMs(nowMs: now) ?? Int.max, alarmMs == Int.max ? Int.max : max(alarmMs - now, 0))
        return wait == Int.max ? -1 : Int32(clamping: min(wait, 60_000))
    }

    /// This is a function of its own so that a profiler distinguishes waiting from work.
    @inline(never)
    private func waitForEvents(timeoutMs: Int32) -> Int {
        events.wait(epoll: epoll.raw, timeoutMs: timeoutMs)
    }

    private func acknowledgeWake(among count: Int) -> Bool {
        for index in 0..<count where events.token(at: index) == Reactor.wakeToken {
            wake.acknowledge()
            return true
        }
        return false
    }

    private func deliverReads(_ count: Int) {
        if !readable.isEmpty {
            let tokens = readable
            readable.removeAll(keepingCapacity: true)
            for token in tokens { table.take(token, .readable)?.ready(.read) }
        }
        for index in 0..<count {
            let raw = events.token(at: index)
            guard raw != Reactor.wakeToken else { continue }
            table.source(EventToken(raw: raw))?.ready(events.readiness(at: index))
        }
    }

    private func fireTimers() {
        wheel.advance(toMs: nowMs, due: &due)
        for token in due {
            switch table.fired(token, nowMs: nowMs) {
            case .due(let source): source.deadlineReached()
            case .later(let deadlineMs): wheel.schedule(token, atMs: deadlineMs)
            case .nothing: break
            }
        }
        due.removeAll(keepingCapacity: true)
        guard nowMs >= alarmMs else { return }
        alarmMs = Int.max
        onAlarm()
    }

    private func flushDirty() {
        var tokens: [EventToken] = []
        swap(&tokens, &dirty)
        if !tokens.isEmpty { onFlush() }
        for token in tokens { table.take(token, .flush)?.flush() }
        // Sources marked during the flush wait for the next tick; the storage is kept for reuse.
        if dirty.isEmpty {
            tokens.removeAll(keepingCapacity: true)
            swap(&tokens, &dirty)
        }
    }

    private func workLate() {
        guard !late.isEmpty else { return }
        let tokens = late
        late.removeAll(keepingCapacity: true)
        for token in tokens { table.take(token, .late)?.late() }
    }

    private func freeRemoved() {
        while let token = removed.popLast() {
            table.free(token)?.released()
        }
    }
}

@available(*, unavailable)
extension Reactor: Sendable {}
