/// The entries of the outbox that were read and are not done: which to do next.
///
/// Entries of one lane are done one after the other, in the order they were added, also when one has to be tried again:
/// the lane waits for it. Lanes do not wait for each other. A value of facts: no I/O; times are monotonic milliseconds.
struct RelayQueue<Item> {
    /// An entry to do now.
    struct Entry {
        /// Its id in the stream.
        let id: [UInt8]
        /// What it is ordered by.
        let lane: UInt64
        /// What is to be done.
        let item: Item
    }

    private struct Lane {
        var entries: [Entry]
        var first = 0
        var isInFlight = false
        /// Not before this time, after a failure.
        var retryMs: Int?
        var failures = 0
    }

    private let inFlightMax: Int
    private let retryMinMs: Int
    private let retryMaxMs: Int
    private var lanes: [UInt64: Lane] = [:]
    /// Lanes whose first entry may be done now, the one that waits longest first.
    private var ready: [UInt64] = []
    private var readyFirst = 0
    /// Lanes that wait for their time after a failure.
    private var paused: Set<UInt64> = []
    /// Entries being done.
    private(set) var inFlight = 0
    /// Entries read and not done.
    private(set) var count = 0

    init(inFlightMax: Int, retryMinMs: Int, retryMaxMs: Int) {
        self.inFlightMax = inFlightMax
        self.retryMinMs = retryMinMs
        self.retryMaxMs = retryMaxMs
    }

    /// Adds the entry that was read after all others.
    mutating func add(_ entry: Entry) {
        count += 1
        if lanes[entry.lane] == nil {
            lanes[entry.lane] = Lane(entries: [entry])
            ready.append(entry.lane)
        } else {
            lanes[entry.lane]?.entries.append(entry)
        }
    }

    /// The next entry to do; it is in flight from then on.
    mutating func next(nowMs: Int) -> Entry? {
        guard inFlight < inFlightMax else { return nil }
        for lane in paused where (lanes[lane]?.retryMs ?? 0) <= nowMs {
            paused.remove(lane)
            ready.append(lane)
        }
        guard readyFirst < ready.count else { return nil }
        let key = ready[readyFirst]
        readyFirst += 1
        if readyFirst > 1_024 && readyFirst * 2 > ready.count {
            ready.removeFirst(readyFirst)
            readyFirst = 0
        }
        guard var lane = lanes[key] else { return nil }
        lane.isInFlight = true
        lanes[key] = lane
        inFlight += 1
        return lane.entries[lane.first]
    }

    /// When a lane that waits may go on; `nil` when none waits or no more may be in flight.
    var nextDueMs: Int? {
        guard inFlight < inFlightMax else { return nil }
        return paused.compactMap { lanes[$0]?.retryMs }.min()
    }

    /// The entry in flight of a lane is done, or given up.
    mutating func finished(_ key: UInt64) {
        guard var lane = lanes[key], lane.isInFlight else { return }
        inFlight -= 1
        count -= 1
        lane.isInFlight = false
        lane.failures = 0
        lane.retryMs = nil
        lane.first += 1
        guard lane.first < lane.entries.count else {
            lanes[key] = nil
            return
        }
        if lane.first > 64 && lane.first * 2 > lane.entries.count {
            lane.entries.removeFirst(lane.first)
            lane.first = 0
        }
        lanes[key] = lane
        ready.append(key)
    }

    /// The entry in flight of a lane could not be done and is tried again after a pause that doubles.
    mutating func failed(_ key: UInt64, nowMs: Int) {
        guard var lane = lanes[key], lane.isInFlight else { return }
        inFlight -= 1
        lane.isInFlight = false
        lane.retryMs = nowMs + min(retryMinMs << min(lane.failures, 16), retryMaxMs)
        lane.failures += 1
        lanes[key] = lane
        paused.insert(key)
    }
}
