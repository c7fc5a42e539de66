import TestSupport
import Testing

@testable import Rights

@Suite struct RateLimitTests {
    @Test func burstThenRate() {
        let limit = RateLimit(perSecond: 10, burst: 3)
        var bucket = TokenBucket(limit, nowMs: 1_000)
        for _ in 0..<3 { #expect(bucket.take(of: limit, nowMs: 1_000) == true) }
        #expect(bucket.take(of: limit, nowMs: 1_000) == false)
        #expect(bucket.waitMs(of: limit, nowMs: 1_000) == 100)
        #expect(bucket.take(of: limit, nowMs: 1_099) == false)
        #expect(bucket.waitMs(of: limit, nowMs: 1_099) == 1)
        #expect(bucket.take(of: limit, nowMs: 1_100) == true)
        #expect(bucket.take(of: limit, nowMs: 1_100) == false)
        #expect(!bucket.isFull(of: limit, nowMs: 1_399))
        #expect(bucket.isFull(of: limit, nowMs: 1_400))
    }

    @Test func severalAtOnceAreAllOrNone() {
        let limit = RateLimit(perSecond: 1, burst: 5)
        var bucket = TokenBucket(limit, nowMs: 0)
        #expect(bucket.take(6, of: limit, nowMs: 0) == false)
        #expect(bucket.waitMs(for: 6, of: limit, nowMs: 0) == nil)
        #expect(bucket.take(4, of: limit, nowMs: 0) == true)
        #expect(bucket.take(2, of: limit, nowMs: 0) == false)
        #expect(bucket.take(1, of: limit, nowMs: 0) == true)
        #expect([bucket.take(0, of: limit, nowMs: 0), bucket.take(-5, of: limit, nowMs: 0)] == [true, true])
        #expect(bucket.take(1, of: limit, nowMs: 0) == false)
        #expect(bucket.take(Int.max, of: limit, nowMs: 0) == false)
        #expect(bucket.waitMs(for: 5, of: limit, nowMs: 0) == 5_000)
    }

    /// A call a millisecond for a minute: exactly burst plus rate times time get through, without drift.
    @Test(arguments: [1, 3, 7, 50, 333, 999])
    func longRunGivesExactlyTheRate(_ rate: Int) {
        let limit = RateLimit(perSecond: rate, burst: 10)
        var bucket = TokenBucket(limit, nowMs: 0)
        let taken = (0...60_000).count { bucket.take(of: limit, nowMs: $0) }
        #expect(taken == 10 + rate * 60 || taken == 9 + rate * 60)
    }

    @Test func clockThatGoesBackFillsNothing() {
        let limit = RateLimit(perSecond: 1, burst: 1)
        var bucket = TokenBucket(limit, nowMs: 10_000)
        #expect(bucket.take(of: limit, nowMs: 10_000) == true)
        #expect(bucket.take(of: limit, nowMs: 0) == false)
        #expect(bucket.take(of: limit, nowMs: 10_999) == false)
        #expect(bucket.take(of: limit, nowMs: 11_000) == true)
    }

    @Test func extremesDoNotTrap() {
        for limit in [RateLimit(perSecond: .max, burst: .max), RateLimit(perSecond: .min, burst: .min)] {
            for start in [Int.min, -1, 0, Int.max] {
                var bucket = TokenBucket(limit, nowMs: start)
                for now in [Int.min, -1, 0, 1, Int.max] {
                    let taken = bucket.take(of: limit, nowMs: now)
                    #expect(taken || bucket.waitMs(of: limit, nowMs: now) != 0)
                    _ = bucket.isFull(of: limit, nowMs: now)
                }
            }
        }
        #expect(RateLimit(perSecond: 0, burst: 0) == RateLimit(perSecond: 1, burst: 1))
    }

    @Test func keysHaveTheirOwnBuckets() {
        var table = KeyedBuckets<Int>(RateLimit(perSecond: 1, burst: 2), capacity: 8)
        #expect([table.take(1, nowMs: 0), table.take(1, nowMs: 0), table.take(1, nowMs: 0)] == [true, true, false])
        #expect(table.take(2, nowMs: 0) == true)
        #expect(table.waitMs(1, nowMs: 0) == 1_000)
        #expect(table.waitMs(9, nowMs: 0) == 0)
        #expect(table.waitMs(9, for: 3, nowMs: 0) == nil)
        #expect(table.take(1, nowMs: 1_000) == true)
    }

    /// A table full of busy keys refuses newcomers rather than give an old one a fresh burst.
    @Test func fullTableEvictsOnlyFullBuckets() {
        var table = KeyedBuckets<Int>(RateLimit(perSecond: 1, burst: 2), capacity: 4)
        for key in 0..<4 { #expect(table.take(key, 2, nowMs: 0) == true) }
        #expect(table.take(99, nowMs: 0) == false)
        #expect(table.count == 4)
        for key in 0..<4 { #expect(table.take(key, nowMs: 0) == false) }
        #expect(table.take(0, nowMs: 2_000) == true)
        #expect(table.take(99, nowMs: 2_000) == true)
        #expect(table.count == 4)
        #expect([table.take(0, nowMs: 2_000), table.take(0, nowMs: 2_000)] == [true, false])
    }

    @Test func tableStaysBoundedAndRightUnderRandomUse() {
        let seed: UInt64 = 20_261_102
        var random = Seeded(seed)
        let limit = RateLimit(perSecond: 20, burst: 4)
        var table = KeyedBuckets<Int>(limit, capacity: 32)
        var model: [Int: TokenBucket] = [:]
        var now = 0
        for _ in 0..<Histories.count(20_000) {
            now += Int.random(in: 0...5, using: &random)
            let key = Int.random(in: 0..<100, using: &random)
            var bucket = model[key] ?? TokenBucket(limit, nowMs: now)
            let allowed = bucket.take(of: limit, nowMs: now)
            let taken = table.take(key, nowMs: now)
            // The table may refuse for want of a place, but never allows what the key's own bucket would not.
            #expect(!taken || allowed, "seed \(seed)")
            if taken { model[key] = bucket }
            #expect(table.count <= 32, "seed \(seed)")
        }
    }
}
