import Core

/// The known ids, and the order in which their refreshes run.
///
/// A change makes one run, a coalescing window later; a change during a run makes another after it. An id in a held
/// partition also runs when its sweep is due, when it asked to, and again after a failure. Sweeps of an id without
/// reported changes become less and less frequent, as long as changes are reported at all. Two runs of one refresh and
/// id are never in flight together, and never begin within one window. Ids of other partitions are only remembered, so
/// that a partition that is gained is refreshed at once. A discovery that does not find such an id forgets it.
///
/// Awaited runs and sweeps each have their own share of the runs in flight, so that neither starves the other. A value
/// of facts: no I/O; times are monotonic milliseconds.
struct RefreshQueue {
    /// The periods of the queue, and its greatest size.
    struct Limits {
        /// Milliseconds, by refresh, within which changes make one run.
        var windowsMs: [Int]
        /// The period of an id's runs in a held partition while changes may go unreported, and after each change.
        var sweepMs: Int
        /// The longest time between two sweeps of an id without reported changes.
        var sweepMaxMs: Int
        /// The most runs in flight.
        var inFlightMax: Int
        /// The most refreshes of ids that are known at once.
        var knownMax: Int
        /// The pause after the first failure of a run; it doubles up to ``retryMaxMs``.
        var retryMinMs = 100
        /// The longest pause after a failure.
        var retryMaxMs = 5_000
    }

    /// A run to begin now.
    struct Run: Equatable {
        /// The queue's own number of the run; return it with the outcome.
        let slot: Int
        /// The number of the refresh.
        let refresh: Int
        /// The id.
        let id: [UInt8]
        /// The id's partition.
        let partition: Int
        /// The time at which it was due.
        let dueMs: Int
    }

    /// The result of a run.
    enum Outcome: Equatable {
        /// The run succeeded; `idle` ends the sweeps, `againMs` is the time of another run.
        case done(idle: Bool, againMs: Int?)
        /// The run failed, and is retried.
        case failed
    }

    private struct Name: Hashable {
        let refresh: Int
        let id: [UInt8]
    }

    private enum Flight {
        case none
        case awaited
        case sweep
    }

    private struct Entry {
        let name: Name
        let partition: Int
        let stamp: Int
        /// The first change that no run has processed.
        var changedMs: Int?
        /// The time at which the id asked to run again.
        var againMs = Int.max
        var sweepMs = Int.max
        /// Sweeps in a row since the last change.
        var quietSweeps = 0
        /// The earliest time of the retry after a failure.
        var retryMs = Int.min
        var failures = 0
        var startedMs: Int?
        var flight = Flight.none
        /// The entry's times in the two heaps.
        var awaitedDueMs = Int.max
        var sweepDueMs = Int.max
        /// The number of the last discovery that found it.
        var cycle: Int
    }

    private let limits: Limits
    private var slots: [Entry?] = []
    private var freeSlots: [Int] = []
    private var index: [Name: Int] = [:]
    private var awaited = DueHeap()
    private var sweeps = DueHeap()
    private var isHeld = [Bool](repeating: false, count: Partition.count)
    private var awaitedInFlight = 0
    private var sweepsInFlight = 0
    private var stamps = 0
    private var cycle = 0
    private var areChangesTold = false
    /// Ids that could not be remembered because ``Limits/knownMax`` others are.
    private(set) var overflows = 0

    init(_ limits: Limits) {
        self.limits = limits
    }

    /// The number of refreshes of ids known.
    var count: Int { index.count }

    /// Runs in flight.
    var inFlight: Int { awaitedInFlight + sweepsInFlight }

    // MARK: What happens

    /// A key of the id changed.
    mutating func changed(refresh: Int, id: [UInt8], nowMs: Int) {
        guard let slot = slot(of: Name(refresh: refresh, id: id)) else { return }
        note(slot, nowMs)
        slots[slot]?.cycle = cycle
    }

    /// A discovery found a key of the id; it counts as a change only when the id was unknown.
    mutating func found(refresh: Int, id: [UInt8], nowMs: Int) {
        let name = Name(refresh: refresh, id: id)
        let isKnown = index[name] != nil
        guard let slot = slot(of: name) else { return }
        slots[slot]?.cycle = cycle
        if !isKnown { note(slot, nowMs) }
    }

    /// A discovery of all keys begins.
    mutating func discoveryBegan() {
        cycle += 1
    }

    /// The discovery has read every key: forgets ids that it did not find and that are in partitions of others.
    mutating func discoveryEnded() {
        for (slot, entry) in slots.enumerated() {
            guard let entry, entry.cycle < cycle, !isHeld[entry.partition], entry.flight == .none else { continue }
            remove(slot)
        }
    }

    /// Partitions were gained: everything known in them runs.
    mutating func hold(_ partitions: [Int], nowMs: Int) {
        for partition in partitions { isHeld[partition] = true }
        let gained = Set(partitions)
        for (slot, entry) in slots.enumerated() {
            if let entry, gained.contains(entry.partition) { note(slot, nowMs) }
        }
    }

    /// Partitions were lost: no run in them begins.
    mutating func leave(_ partitions: [Int]) {
        for partition in partitions { isHeld[partition] = false }
        let lost = Set(partitions)
        for (slot, entry) in slots.enumerated() {
            if let entry, lost.contains(entry.partition) { schedule(slot) }
        }
    }

    /// Changes may have been missed: everything in held partitions runs.
    mutating func refreshAll(nowMs: Int) {
        hold(isHeld.indices.filter { isHeld[$0] }, nowMs: nowMs)
    }

    /// Sets whether every change is reported from now on; while not, no id waits longer than a sweep.
    ///
    /// Recent changes may have gone unreported: everything runs.
    mutating func trustChanges(_ areTold: Bool, nowMs: Int) {
        guard areTold != areChangesTold else { return }
        areChangesTold = areTold
        refreshAll(nowMs: nowMs)
    }

    // MARK: Runs

    /// The next run to begin now; it is in flight from then on.
    mutating func next(nowMs: Int) -> Run? {
        let sweepShare = max(limits.inFlightMax / 4, 1)
        if awaitedInFlight < max(limits.inFlightMax - sweepShare, 1), let node = leastAwaited(), node.dueMs <= nowMs {
            awaitedInFlight += 1
            return begin(node, .awaited, nowMs)
        }
        if sweepsInFlight < sweepShare, let node = leastSweep(), node.dueMs <= nowMs {
            sweepsInFlight += 1
            return begin(node, .sweep, nowMs)
        }
        return nil
    }

    /// The time of the next run; `nil` when none is due, or when no more may be in flight.
    mutating func nextDueMs() -> Int? {
        let sweepShare = max(limits.inFlightMax / 4, 1)
        let first = awaitedInFlight < max(limits.inFlightMax - sweepShare, 1) ? leastAwaited()?.dueMs : nil
        let second = sweepsInFlight < sweepShare ? leastSweep()?.dueMs : nil
        return [first, second].compactMap(\.self).min()
    }

    /// A run has ended.
    mutating func finished(_ slot: Int, _ outcome: Outcome, nowMs: Int) {
        guard slots.indices.contains(slot), var entry = slots[slot] else { return }
        switch entry.flight {
        case .none: return
        case .awaited: awaitedInFlight -= 1
        case .sweep:
            sweepsInFlight -= 1
            entry.quietSweeps = min(entry.quietSweeps + 1, RefreshQueue.doublingsMax)
        }
        entry.flight = .none
        if entry.changedMs != nil { entry.quietSweeps = 0 }
        switch outcome {
        case .done(let idle, let againMs):
            entry.failures = 0
            entry.retryMs = Int.min
            entry.sweepMs = idle ? Int.max : (entry.startedMs ?? nowMs) + period(entry)
            // The sweep before it repeats a later request.
            entry.againMs = againMs.map { $0 < entry.sweepMs ? $0 : Int.max } ?? Int.max
            slots[slot] = entry
            if idle && againMs == nil && entry.changedMs == nil { return remove(slot) }
        case .failed:
            let pauseMs = limits.retryMinMs << min(entry.failures, 16)
            entry.failures += 1
            entry.retryMs = nowMs + min(pauseMs, limits.retryMaxMs)
            entry.changedMs = entry.changedMs ?? nowMs
            slots[slot] = entry
        }
        schedule(slot)
    }

    // MARK: Inside

    /// The most doublings of a period.
    private static let doublingsMax = 16

    /// A different period for every id, so that ids that began together drift apart.
    private func period(_ entry: Entry) -> Int {
        let doublings = areChangesTold ? entry.quietSweeps : 0
        let longestMs = max(limits.sweepMaxMs, limits.sweepMs)
        let periodMs = min(limits.sweepMs << doublings, longestMs)
        return periodMs - Int(StableHash.of(entry.name.id) >> 8 % UInt64(periodMs / 4 + 1))
    }

    private mutating func begin(_ node: DueHeap.Node, _ flight: Flight, _ nowMs: Int) -> Run? {
        guard var entry = slots[node.slot] else { return nil }
        entry.flight = flight
        entry.startedMs = nowMs
        entry.changedMs = nil
        entry.againMs = Int.max
        entry.awaitedDueMs = Int.max
        entry.sweepDueMs = Int.max
        slots[node.slot] = entry
        return Run(
            slot: node.slot, refresh: entry.name.refresh, id: entry.name.id, partition: entry.partition,
            dueMs: node.dueMs)
    }

    private mutating func note(_ slot: Int, _ nowMs: Int) {
        slots[slot]?.quietSweeps = 0
        guard slots[slot]?.changedMs == nil else { return schedule(slot) }
        slots[slot]?.changedMs = nowMs
        schedule(slot)
    }

    /// Puts the times of an entry into the heaps, when they are missing there.
    private mutating func schedule(_ slot: Int) {
        guard var entry = slots[slot] else { return }
        var (awaitedMs, sweepMs) = (Int.max, Int.max)
        if isHeld[entry.partition] && entry.flight == .none {
            let windowMs = limits.windowsMs[entry.name.refresh]
            let earliestMs = max(entry.startedMs.map { $0 + windowMs } ?? Int.min, entry.retryMs)
            let wishMs = min(entry.changedMs.map { $0 + windowMs } ?? Int.max, entry.againMs)
            if wishMs < Int.max { awaitedMs = max(wishMs, earliestMs) }
            if entry.sweepMs < Int.max { sweepMs = max(entry.sweepMs, earliestMs) }
        }
        if awaitedMs != entry.awaitedDueMs {
            entry.awaitedDueMs = awaitedMs
            if awaitedMs < Int.max { awaited.add(DueHeap.Node(dueMs: awaitedMs, slot: slot, stamp: entry.stamp)) }
        }
        if sweepMs != entry.sweepDueMs {
            entry.sweepDueMs = sweepMs
            if sweepMs < Int.max { sweeps.add(DueHeap.Node(dueMs: sweepMs, slot: slot, stamp: entry.stamp)) }
        }
        slots[slot] = entry
        trim()
    }

    /// Keeps invalid times from filling the heaps.
    private mutating func trim() {
        let bound = 4 * index.count + 1_024
        let slots = slots
        if awaited.count > bound { awaited.removeAll { RefreshQueue.holds($0, slots, \.awaitedDueMs) } }
        if sweeps.count > bound { sweeps.removeAll { RefreshQueue.holds($0, slots, \.sweepDueMs) } }
    }

    private mutating func leastAwaited() -> DueHeap.Node? {
        let slots = slots
        return awaited.least { RefreshQueue.holds($0, slots, \.awaitedDueMs) }
    }

    private mutating func leastSweep() -> DueHeap.Node? {
        let slots = slots
        return sweeps.least { RefreshQueue.holds($0, slots, \.sweepDueMs) }
    }

    private static func holds(_ node: DueHeap.Node, _ slots: [Entry?], _ dueMs: KeyPath<Entry, Int>) -> Bool {
        guard let entry = slots[node.slot] else { return false }
        return entry.stamp == node.stamp && entry[keyPath: dueMs] == node.dueMs
    }

    private mutating func slot(of name: Name) -> Int? {
        if let slot = index[name] { return slot }
        guard index.count < limits.knownMax else {
            overflows += 1
            return nil
        }
        stamps += 1
        let entry = Entry(name: name, partition: Partition.of(name.id), stamp: stamps, cycle: cycle)
        let slot = freeSlots.popLast() ?? slots.count
        if slot == slots.count { slots.append(entry) } else { slots[slot] = entry }
        index[name] = slot
        return slot
    }

    private mutating func remove(_ slot: Int) {
        guard let entry = slots[slot] else { return }
        index[entry.name] = nil
        slots[slot] = nil
        freeSlots.append(slot)
    }
}
