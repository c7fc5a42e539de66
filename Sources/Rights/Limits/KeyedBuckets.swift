/// A bounded table of token buckets, one per user, address or key.
///
/// A value of one thread.
///
/// A bucket that has filled up again is as good as none and gives its place away. When every place is held by a
/// bucket that has not, a new key is refused: forgetting one instead would give its holder a fresh burst. Time per
/// call is bounded: a new key looks at no more than ``examinedMax`` places, going round like a clock's hand.
public struct KeyedBuckets<Key: Hashable & Sendable>: Sendable {
    private struct Slot: Sendable {
        var key: Key
        var bucket: TokenBucket
    }

    private let limit: RateLimit
    private let capacity: Int
    private var slots: [Slot] = []
    private var indexByKey: [Key: Int] = [:]
    private var hand = 0
    /// The bucket that all keys without a place share.
    private var rest: TokenBucket

    /// Places looked at for one new key.
    public static var examinedMax: Int { 16 }

    /// Makes an empty table of at most `capacity` keys, at least 1.
    public init(_ limit: RateLimit, capacity: Int) {
        self.limit = limit
        self.capacity = max(1, capacity)
        rest = TokenBucket(limit, nowMs: 0)
    }

    /// How many keys hold a place.
    public var count: Int { slots.count }

    /// Takes tokens from the key's bucket; false when it holds too few or no place could be had.
    public mutating func take(_ key: Key, _ count: Int = 1, nowMs: Int) -> Bool {
        if let index = indexByKey[key] { return slots[index].bucket.take(count, nowMs: nowMs) }
        guard let index = place(for: key, nowMs: nowMs) else { return false }
        return slots[index].bucket.take(count, nowMs: nowMs)
    }

    /// Milliseconds until the key may take so many; see ``TokenBucket/waitMs(for:nowMs:)``.
    ///
    /// A key without a bucket waits 0.
    public func waitMs(_ key: Key, for count: Int = 1, nowMs: Int) -> Int? {
        guard let index = indexByKey[key] else { return count <= limit.burst ? 0 : nil }
        return slots[index].bucket.waitMs(for: count, nowMs: nowMs)
    }

    /// Takes one token; when there is none, returns the milliseconds until there is, at least 1.
    public mutating func takeOrWaitMs(_ key: Key, nowMs: Int) -> Int? {
        if take(key, nowMs: nowMs) { return nil }
        // Without a place in the table the time is not known; a second frees some.
        guard let index = indexByKey[key] else { return 1_000 }
        return max(slots[index].bucket.waitMs(nowMs: nowMs) ?? 1_000, 1)
    }

    /// Milliseconds until ``pay(_:_:nowMs:)`` would take the tokens; 0 when it would now.
    ///
    /// A key without a bucket waits 0.
    public func waitToPayMs(_ key: Key, _ count: Int, nowMs: Int) -> Int {
        waitMs(key, for: min(count, limit.burst), nowMs: nowMs) ?? 0
    }

    /// Takes tokens as ``TokenBucket/pay(_:nowMs:)`` does.
    ///
    /// Without a place in the table the key pays from one bucket together with all others that have none: a flood of keys
    /// slows down its own newcomers, and refuses nobody who has a place.
    public mutating func pay(_ key: Key, _ count: Int, nowMs: Int) -> Int? {
        guard let index = indexByKey[key] ?? place(for: key, nowMs: nowMs) else { return rest.pay(count, nowMs: nowMs) }
        return slots[index].bucket.pay(count, nowMs: nowMs)
    }

    /// Takes what something has cost; see ``TokenBucket/charge(_:nowMs:)``.
    public mutating func charge(_ key: Key, _ count: Int, nowMs: Int) {
        guard let index = indexByKey[key] ?? place(for: key, nowMs: nowMs) else {
            return rest.charge(count, nowMs: nowMs)
        }
        slots[index].bucket.charge(count, nowMs: nowMs)
    }

    /// Gives tokens back that were paid for nothing; those of a key without a place go to the bucket that such keys share.
    public mutating func giveBack(_ key: Key, _ count: Int, nowMs: Int) {
        guard let index = indexByKey[key] else { return rest.giveBack(count, nowMs: nowMs) }
        slots[index].bucket.giveBack(count, nowMs: nowMs)
    }

    /// The only place where table and index change: both together.
    private mutating func place(for key: Key, nowMs: Int) -> Int? {
        let slot = Slot(key: key, bucket: TokenBucket(limit, nowMs: nowMs))
        for _ in 0..<min(KeyedBuckets.examinedMax, slots.count) {
            let index = hand
            hand = (hand + 1) % slots.count
            if slots[index].bucket.isFull(nowMs: nowMs) {
                indexByKey[slots[index].key] = nil
                indexByKey[key] = index
                slots[index] = slot
                return index
            }
        }
        guard slots.count < capacity else { return nil }
        slots.append(slot)
        indexByKey[key] = slots.count - 1
        return slots.count - 1
    }
}
