/// A hashed timer wheel: 4096 buckets of 8 ms; deadlines beyond a turn go round again.
///
/// Pure: time is a parameter. Entries are never cancelled; who set one decides when it fires whether it still counts.
/// *Complexity*: O(1) to schedule, O(passed buckets + entries in them) to advance.
struct TimerWheel {
    private struct Entry {
        let token: EventToken
        let deadlineMs: Int
    }

    static let tickMs = 8
    private static let bucketCount = 4_096

    private var buckets: [[Entry]] = Array(repeating: [], count: bucketCount)
    /// One bit a bucket, so that the next deadline is found in at most 64 words.
    private var occupied: [UInt64] = Array(repeating: 0, count: bucketCount / 64)
    /// Everything before this tick has fired.
    private var currentTick: Int
    private(set) var count = 0

    init(nowMs: Int) {
        currentTick = nowMs / TimerWheel.tickMs
    }

    /// Adds an entry; a deadline in the past fires at the next advance.
    mutating func schedule(_ token: EventToken, atMs deadlineMs: Int) {
        // Rounded up: a timer may fire late by a tick, never early.
        let tick = max(deadlineMs / TimerWheel.tickMs + 1, currentTick)
        let bucket = tick % TimerWheel.bucketCount
        buckets[bucket].append(Entry(token: token, deadlineMs: deadlineMs))
        occupied[bucket / 64] |= 1 << UInt64(bucket % 64)
        count += 1
    }

    /// Appends to `due` every entry whose deadline has passed.
    mutating func advance(toMs nowMs: Int, due: inout [EventToken]) {
        let lastTick = nowMs / TimerWheel.tickMs
        guard lastTick >= currentTick else { return }
        let steps = min(lastTick - currentTick + 1, TimerWheel.bucketCount)
        for step in 0..<steps {
            let bucket = (currentTick + step) % TimerWheel.bucketCount
            guard occupied[bucket / 64] & (1 << UInt64(bucket % 64)) != 0 else { continue }
            var later: [Entry] = []
            for entry in buckets[bucket] {
                if entry.deadlineMs <= nowMs {
                    due.append(entry.token)
                    count -= 1
                } else {
                    later.append(entry)
                }
            }
            buckets[bucket].removeAll(keepingCapacity: later.isEmpty && buckets[bucket].capacity <= 64)
            buckets[bucket].append(contentsOf: later)
            if later.isEmpty { occupied[bucket / 64] &= ~(1 << UInt64(bucket % 64)) }
        }
        currentTick = lastTick + 1
    }

    /// Milliseconds until something may fire; `nil` when nothing is scheduled.
    ///
    /// May be early by whole turns, never late.
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
