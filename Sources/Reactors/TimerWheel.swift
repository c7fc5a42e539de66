/// A hashed timer wheel: 4096 buckets of 8 ms; deadlines beyond one turn stay for further turns.
///
/// Pure: time is a parameter. Entries are never cancelled; the owner of an entry decides when it fires whether it still
/// counts.
///
/// All entries share one storage, as large as the most entries that were ever scheduled at a time. Separate storage for
/// each bucket would grow for half an hour: timers that were set together move together, and reach every bucket in
/// time. *Complexity*: O(1) to schedule, O(passed buckets + entries in them) to advance.
struct TimerWheel {
    private struct Entry {
        var token: EventToken
        var deadlineMs: Int
        /// The next entry of its bucket, or the next free place.
        var next: Int
    }

    static let tickMs = 8
    private static let bucketCount = 4_096
    private static let none = -1

    private var entries: [Entry] = []
    private var firstFree = TimerWheel.none
    /// The first and last entry of each bucket.
    private var heads = Array(repeating: TimerWheel.none, count: bucketCount)
    private var tails = Array(repeating: TimerWheel.none, count: bucketCount)
    /// One bit for each bucket, so that the next deadline is found in at most 64 words.
    private var occupied: [UInt64] = Array(repeating: 0, count: bucketCount / 64)
    /// The first tick that has not fired; all ticks before it have.
    private var currentTick: Int
    private(set) var count = 0

    init(nowMs: Int) {
        currentTick = nowMs / TimerWheel.tickMs
    }

    /// The number of places, used and free.
    var places: Int { entries.count }

    /// Adds an entry; a deadline in the past fires at the next advance.
    mutating func schedule(_ token: EventToken, atMs deadlineMs: Int) {
        // Rounded up: a timer may fire late by a tick, never early.
        let tick = max(deadlineMs / TimerWheel.tickMs + 1, currentTick)
        let bucket = tick % TimerWheel.bucketCount
        let entry = Entry(token: token, deadlineMs: deadlineMs, next: TimerWheel.none)
        let place: Int
        if firstFree == TimerWheel.none {
            place = entries.count
            entries.append(entry)
        } else {
            place = firstFree
            firstFree = entries[place].next
            entries[place] = entry
        }
        link(place, bucket)
        occupied[bucket / 64] |= 1 << UInt64(bucket % 64)
        count += 1
    }

    /// Appends an entry to a bucket.
    private mutating func link(_ place: Int, _ bucket: Int) {
        if heads[bucket] == TimerWheel.none { heads[bucket] = place } else { entries[tails[bucket]].next = place }
        tails[bucket] = place
    }

    /// Appends to `due` every entry whose deadline has passed.
    mutating func advance(toMs nowMs: Int, due: inout [EventToken]) {
        let lastTick = nowMs / TimerWheel.tickMs
        guard lastTick >= currentTick else { return }
        let steps = min(lastTick - currentTick + 1, TimerWheel.bucketCount)
        for step in 0..<steps {
            let bucket = (currentTick + step) % TimerWheel.bucketCount
            guard occupied[bucket / 64] & (1 << UInt64(bucket % 64)) != 0 else { continue }
            empty(bucket, nowMs, &due)
            if heads[bucket] == TimerWheel.none { occupied[bucket / 64] &= ~(1 << UInt64(bucket % 64)) }
        }
        currentTick = lastTick + 1
        // After many timers at once the storage is freed, once nothing is scheduled.
        if count == 0 && entries.count > TimerWheel.bucketCount { (entries, firstFree) = ([], TimerWheel.none) }
    }

    /// Takes the due entries out of a bucket; entries for a later turn keep their order.
    private mutating func empty(_ bucket: Int, _ nowMs: Int, _ due: inout [EventToken]) {
        var place = heads[bucket]
        (heads[bucket], tails[bucket]) = (TimerWheel.none, TimerWheel.none)
        while place != TimerWheel.none {
            let (entry, next) = (entries[place], entries[place].next)
            if entry.deadlineMs <= nowMs {
                due.append(entry.token)
                count -= 1
                entries[place].next = firstFree
                firstFree = place
            } else {
                entries[place].next = TimerWheel.none
                link(place, bucket)
            }
            place = next
        }
    }

    /// Milliseconds until an entry may fire; `nil` when nothing is scheduled.
    ///
    /// It may be early by whole turns, never late.
    func waitMs(nowMs: Int) -> Int? {
        guard count > 0 else { return nil }
        var step = 0
        while step < TimerWheel.bucketCount {
            let bucket = (currentTick + step) % TimerWheel.bucketCount
            let rest = occupied[bucket / 64] >> UInt64(bucket % 64)
            if rest != 0 {
                return max((currentTick + step + rest.trailingZeroBitCount) * TimerWheel.tickMs - nowMs, 0)
            }
            step += 64 - bucket % 64
        }
        return TimerWheel.bucketCount * TimerWheel.tickMs
    }
}
