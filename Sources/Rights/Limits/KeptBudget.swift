public import Core

/// How many bytes callers may keep in Redis: a bucket for each payer in each namespace, and one for each namespace.
///
/// A bucket holds as many bytes as may be kept, and refills within the life of the namespace's logs. So a payer keeps what
/// the bucket holds, and for a while after a pause twice as much; more where other payers keep a log alive.
///
/// Pure: time is a parameter, monotonic milliseconds.
public struct KeptBudget: Sendable {
    /// The sizes of the buckets, in bytes that are kept.
    public struct Sizes: Sendable {
        /// Of one address, and of one publishable key at one address.
        public var address: Int
        /// Of one user.
        public var user: Int
        /// Of all users and anonymous callers in one namespace.
        public var namespace: Int
        /// Buckets of each kind, and logs of which is known who has what in them.
        public var placesMax: Int

        /// Makes sizes.
        public init(address: Int, user: Int, namespace: Int, placesMax: Int) {
            self.address = address
            self.user = user
            self.namespace = namespace
            self.placesMax = placesMax
        }
    }

    /// Why something could not be kept, and the milliseconds until it could be, at least 1.
    public enum Shortage: Equatable, Sendable {
        /// The payer keeps too much.
        case payer(waitMs: Int)
        /// All callers of the namespace together keep too much.
        case namespace(waitMs: Int)
    }

    private struct Account: Hashable, Sendable {
        let payer: Payer
        let namespace: [UInt8]
    }

    private struct Log: Hashable, Sendable {
        let payer: Payer
        let topic: Topic
    }

    /// Tokens for each byte: a small bucket with a long life still refills by some tokens a second.
    private static let tokens = 64

    private let sizes: Sizes
    private var addresses: KeyedBuckets<Account>
    private var users: KeyedBuckets<Account>
    private var namespaces: KeyedBuckets<[UInt8]>
    private var logs: KeptLogs<Log>

    /// Full buckets.
    public init(_ sizes: Sizes) {
        self.sizes = sizes
        addresses = KeyedBuckets(KeptBudget.rate(sizes.address, seconds: 1), capacity: sizes.placesMax)
        users = KeyedBuckets(KeptBudget.rate(sizes.user, seconds: 1), capacity: sizes.placesMax)
        namespaces = KeyedBuckets(KeptBudget.rate(sizes.namespace, seconds: 1), capacity: sizes.placesMax)
        logs = KeptLogs(capacity: sizes.placesMax)
    }

    /// Pays for an event of a topic; a service pays nothing.
    ///
    /// Nothing was taken when something is missing.
    public mutating func pay(_ payer: Payer, _ event: KeptEvent, on topic: Topic, nowMs: Int) -> Shortage? {
        guard payer.kind != .service else { return nil }
        let log = Log(payer: payer, topic: topic)
        let price = logs.price(log, event, nowMs: nowMs)
        if let shortage = pay(payer, price.bytes, Array(topic.namespace), event.seconds, nowMs) { return shortage }
        logs.note(log, price.after, seconds: event.seconds)
        return nil
    }

    /// Takes what events of a topic leave that were published already; it may leave a debt.
    public mutating func charge(_ payer: Payer, _ event: KeptEvent, on topic: Topic, nowMs: Int) {
        guard payer.kind != .service else { return }
        let log = Log(payer: payer, topic: topic)
        let price = logs.price(log, event, nowMs: nowMs)
        logs.note(log, price.after, seconds: event.seconds)
        let (count, namespace) = (price.bytes * KeptBudget.tokens, Array(topic.namespace))
        namespaces.charge(namespace, count, KeptBudget.rate(sizes.namespace, seconds: event.seconds), nowMs: nowMs)
        let account = Account(payer: payer, namespace: namespace)
        switch payer {
        case .crowd, .service: break
        case .address, .publishable:
            let rate = KeptBudget.rate(sizes.address, seconds: event.seconds)
            addresses.charge(account, count, rate, nowMs: nowMs)
        case .user:
            users.charge(account, count, KeptBudget.rate(sizes.user, seconds: event.seconds), nowMs: nowMs)
        }
    }

    /// Pays for the arguments of a command from the payer's own bucket in a namespace.
    ///
    /// Nobody knows which data they replace. So they take nothing from the budget of all, or busy callers of a command that
    /// keeps nothing would shut everybody out.
    public mutating func pay(_ payer: Payer, _ event: KeptEvent, in namespace: [UInt8], nowMs: Int) -> Shortage? {
        let account = Account(payer: payer, namespace: namespace)
        return payOwn(account, event.bytes * KeptBudget.tokens, event.seconds, nowMs).map { .payer(waitMs: $0) }
    }

    private mutating func pay(
        _ payer: Payer, _ bytes: Int, _ namespace: [UInt8], _ seconds: Int, _ nowMs: Int
    ) -> Shortage? {
        let count = bytes * KeptBudget.tokens
        let whole = KeptBudget.rate(sizes.namespace, seconds: seconds)
        let waitMs = namespaces.waitMs(namespace, for: min(count, whole.burst), nowMs: nowMs) ?? 0
        if waitMs > 0 { return .namespace(waitMs: waitMs) }
        let account = Account(payer: payer, namespace: namespace)
        if let missingMs = payOwn(account, count, seconds, nowMs) { return .payer(waitMs: missingMs) }
        // There is enough, or so many namespaces that they share what is left.
        _ = namespaces.pay(namespace, count, whole, nowMs: nowMs)
        return nil
    }

    /// Pays from the payer's own bucket; the milliseconds until it could when it cannot.
    private mutating func payOwn(_ account: Account, _ count: Int, _ seconds: Int, _ nowMs: Int) -> Int? {
        switch account.payer {
        case .crowd, .service: nil
        case .address, .publishable:
            addresses.pay(account, count, KeptBudget.rate(sizes.address, seconds: seconds), nowMs: nowMs)
        case .user: users.pay(account, count, KeptBudget.rate(sizes.user, seconds: seconds), nowMs: nowMs)
        }
    }

    private static func rate(_ bytes: Int, seconds: Int) -> RateLimit {
        let burst = bytes * tokens
        return RateLimit(perSecond: max(1, burst / seconds), burst: burst)
    }
}
