/// The Redis time of callers: token buckets in microseconds, one for each payer, and one that all anonymous callers
/// share.
///
/// The refusal of an empty bucket names the true wait. Tables are bounded by kind, so a flood of addresses takes no
/// user's place; see ``KeyedBuckets`` for what a full table means. A bucket gives its place away only when it is full
/// again, so nobody resets his own by making others come.
///
/// Pure: time is a parameter, monotonic milliseconds.
public struct WeightBudget: Sendable {
    /// The sizes of the buckets, in microseconds of Redis.
    public struct Sizes: Sendable {
        /// Of one address, and of one publishable key at one address.
        public var address: RateLimit
        /// Of one user.
        public var user: RateLimit
        /// Of one backend.
        public var service: RateLimit
        /// Of all anonymous callers together.
        public var anonymous: RateLimit
        /// Payers of each kind with a bucket of their own.
        public var payersMax: Int

        /// Makes sizes.
        public init(
            address: RateLimit, user: RateLimit, service: RateLimit, anonymous: RateLimit, payersMax: Int
        ) {
            self.address = address
            self.user = user
            self.service = service
            self.anonymous = anonymous
            self.payersMax = payersMax
        }
    }

    private var addresses: KeyedBuckets<Payer>
    private var users: KeyedBuckets<Payer>
    private var services: KeyedBuckets<Payer>
    private var anonymous: TokenBucket

    /// Full buckets.
    public init(_ sizes: Sizes, nowMs: Int) {
        addresses = KeyedBuckets(sizes.address, capacity: sizes.payersMax)
        users = KeyedBuckets(sizes.user, capacity: sizes.payersMax)
        services = KeyedBuckets(sizes.service, capacity: sizes.payersMax)
        anonymous = TokenBucket(sizes.anonymous, nowMs: nowMs)
    }

    /// Pays from the payer's own bucket.
    ///
    /// `nil` when it was paid, else the milliseconds until it could be, at least 1.
    public mutating func pay(_ payer: Payer, us: Int, nowMs: Int) -> Int? {
        own(payer) { $0.pay(payer, us, nowMs: nowMs) }
    }

    /// Pays from the bucket that all anonymous callers share; the answer is that of ``pay(_:us:nowMs:)``.
    public mutating func payShared(us: Int, nowMs: Int) -> Int? {
        anonymous.pay(us, nowMs: nowMs)
    }

    /// Milliseconds until the shared bucket could pay; 0 when it could now.
    public func sharedWaitMs(us: Int, nowMs: Int) -> Int {
        anonymous.waitMs(for: min(us, anonymous.limit.burst), nowMs: nowMs) ?? 0
    }

    /// Gives back what was paid for a call that was not made.
    public mutating func giveBack(_ payer: Payer, us: Int, nowMs: Int) {
        own(payer) { $0.giveBack(payer, us, nowMs: nowMs) }
        if payer.kind == .anonymous { anonymous.giveBack(us, nowMs: nowMs) }
    }

    /// Takes what a call has cost beyond what was paid before; it may leave a debt.
    public mutating func charge(_ payer: Payer, us: Int, nowMs: Int) {
        own(payer) { $0.charge(payer, us, nowMs: nowMs) }
        if payer.kind == .anonymous { anonymous.charge(us, nowMs: nowMs) }
    }

    /// Changes the buckets among which the payer has its own; `nil` for a crowd, which has none.
    @discardableResult
    private mutating func own<R>(_ payer: Payer, _ change: (inout KeyedBuckets<Payer>) -> R?) -> R? {
        switch payer {
        case .crowd: nil
        case .address, .publishable: change(&addresses)
        case .user: change(&users)
        case .service: change(&services)
        }
    }
}
