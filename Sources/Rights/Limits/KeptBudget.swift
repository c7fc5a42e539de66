public import Core

/// How many bytes callers may keep in Redis: a bucket for each payer in each namespace, and two for each namespace.
///
/// A bucket holds as many bytes as may be kept, and refills within the life of the namespace's logs. So a payer keeps what
/// the bucket holds, and for a while after a pause twice as much; more where other payers keep a log alive. A namespace's
/// buckets pay for each topic's log as a whole, whoever publishes on it: the first for all callers, the second, which is
/// half as large, for those of them who are anonymous.
///
/// Pure: time is a parameter, monotonic milliseconds.
public struct KeptBudget: Sendable {
    /// The sizes of the buckets, in bytes that are kept.
    public struct Sizes: Sendable {
        /// Of one address, and of one publishable key at one address.
        public var address: Int
        /// Of one user.
        public var user: Int
        /// Of all users and anonymous callers in one namespace; the latter together use half of it at most.
        public var namespace: Int
        /// Buckets of each kind with one speed, logs of which is known who has what in them, and topics.
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
    public enum Shortage: Error, Equatable {
        /// The payer keeps too much.
        case payer(waitMs: Int)
        /// All callers of the namespace together, or all anonymous ones, keep too much.
        case namespace(waitMs: Int)
    }

    /// The receipt for an event, to give its bytes back if Redis does not store it.
    public struct Paid: Sendable {
        let payer: Payer
        let topic: Topic
        let event: KeptEvent
        /// Bytes that the event adds to those of its payer in the log.
        let own: Int
        /// Bytes that it adds to the log.
        let all: Int
    }

    private struct Account: Hashable, Sendable {
        let payer: Payer
        let namespace: [UInt8]
    }

    private struct Log: Hashable, Sendable {
        let payer: Payer
        let topic: Topic
    }

    /// The buckets of namespaces whose logs live equally long: they refill within that life, also those without a place.
    private struct Buckets: Sendable {
        var addresses: KeyedBuckets<Account>
        var users: KeyedBuckets<Account>
        var namespaces: KeyedBuckets<[UInt8]>
        var anonymous: KeyedBuckets<[UInt8]>

        init(_ sizes: Sizes, seconds: Int) {
            func rate(_ bytes: Int) -> RateLimit {
                let burst = bytes * KeptBudget.tokens
                return RateLimit(perSecond: max(1, burst / seconds), burst: burst)
            }
            addresses = KeyedBuckets(rate(sizes.address), capacity: sizes.placesMax)
            users = KeyedBuckets(rate(sizes.user), capacity: sizes.placesMax)
            namespaces = KeyedBuckets(rate(sizes.namespace), capacity: sizes.placesMax)
            anonymous = KeyedBuckets(rate(sizes.namespace / 2), capacity: sizes.placesMax)
        }

        /// Pays from the payer's own bucket; the milliseconds until it could when it cannot.
        mutating func payOwn(_ account: Account, _ tokens: Int, nowMs: Int) -> Int? {
            own(account.payer) { $0.pay(account, tokens, nowMs: nowMs) }
        }

        mutating func giveBackOwn(_ account: Account, _ tokens: Int, nowMs: Int) {
            own(account.payer) { $0.giveBack(account, tokens, nowMs: nowMs) }
        }

        /// Pays from the payer's own bucket and for a log as a whole.
        mutating func pay(_ account: Account, _ own: Int, _ all: Int, nowMs: Int) throws(Shortage) {
            let (namespace, isAnonymous) = (account.namespace, account.payer.kind == .anonymous)
            let sharedMs = isAnonymous ? anonymous.waitToPayMs(namespace, all, nowMs: nowMs) : 0
            let waitMs = max(sharedMs, namespaces.waitToPayMs(namespace, all, nowMs: nowMs))
            if waitMs > 0 { throw .namespace(waitMs: waitMs) }
            if let missingMs = payOwn(account, own, nowMs: nowMs) { throw .payer(waitMs: missingMs) }
            // There is enough, or so many namespaces that they share what is left.
            _ = namespaces.pay(namespace, all, nowMs: nowMs)
            if isAnonymous { _ = anonymous.pay(namespace, all, nowMs: nowMs) }
        }

        mutating func charge(_ account: Account, _ own: Int, _ all: Int, nowMs: Int) {
            namespaces.charge(account.namespace, all, nowMs: nowMs)
            if account.payer.kind == .anonymous { anonymous.charge(account.namespace, all, nowMs: nowMs) }
            self.own(account.payer) { $0.charge(account, own, nowMs: nowMs) }
        }

        mutating func giveBack(_ account: Account, _ own: Int, _ all: Int, nowMs: Int) {
            namespaces.giveBack(account.namespace, all, nowMs: nowMs)
            if account.payer.kind == .anonymous { anonymous.giveBack(account.namespace, all, nowMs: nowMs) }
            giveBackOwn(account, own, nowMs: nowMs)
        }

        /// Changes the buckets among which the payer has its own; `nil` for a crowd and a service, which have none.
        @discardableResult
        private mutating func own<R>(_ payer: Payer, _ change: (inout KeyedBuckets<Account>) -> R?) -> R? {
            switch payer {
            case .crowd, .service: nil
            case .address, .publishable: change(&addresses)
            case .user: change(&users)
            }
        }
    }

    /// Tokens for each byte: a small bucket with a long life still refills by some tokens a second.
    private static let tokens = 64

    private let sizes: Sizes
    /// By the lives of logs in seconds; the configuration has as many of them as namespaces at most.
    private var buckets: [Int: Buckets] = [:]
    /// Bytes of each payer in each log.
    private var logs: KeptLogs<Log>
    /// Bytes of all payers in each log.
    private var topics: KeptLogs<Topic>

    /// Full buckets.
    public init(_ sizes: Sizes) {
        self.sizes = sizes
        logs = KeptLogs(capacity: sizes.placesMax)
        topics = KeptLogs(capacity: sizes.placesMax)
    }

    /// Pays for an event of a topic; a service pays nothing.
    ///
    /// Nothing was taken when something is missing.
    public mutating func keep(
        _ payer: Payer, _ event: KeptEvent, on topic: Topic, nowMs: Int
    ) throws(Shortage) -> Paid? {
        guard payer.kind != .service else { return nil }
        let log = Log(payer: payer, topic: topic)
        let (own, all) = (logs.price(log, event, nowMs: nowMs), topics.price(topic, event, nowMs: nowMs))
        let account = Account(payer: payer, namespace: Array(topic.namespace))
        try buckets[event.seconds, default: Buckets(sizes, seconds: event.seconds)].pay(
            account, own.bytes * KeptBudget.tokens, all.bytes * KeptBudget.tokens, nowMs: nowMs)
        logs.note(log, own.after, seconds: event.seconds)
        topics.note(topic, all.after, seconds: event.seconds)
        return Paid(payer: payer, topic: topic, event: event, own: own.growth, all: all.growth)
    }

    /// Takes what events of a topic leave that were published already; it may leave a debt.
    public mutating func charge(_ payer: Payer, _ event: KeptEvent, on topic: Topic, nowMs: Int) {
        guard payer.kind != .service else { return }
        let log = Log(payer: payer, topic: topic)
        let (own, all) = (logs.price(log, event, nowMs: nowMs), topics.price(topic, event, nowMs: nowMs))
        logs.note(log, own.after, seconds: event.seconds)
        topics.note(topic, all.after, seconds: event.seconds)
        let account = Account(payer: payer, namespace: Array(topic.namespace))
        buckets[event.seconds, default: Buckets(sizes, seconds: event.seconds)].charge(
            account, own.bytes * KeptBudget.tokens, all.bytes * KeptBudget.tokens, nowMs: nowMs)
    }

    /// Gives back what an event would have added that was not kept.
    ///
    /// The longer life of the older events stays paid: the next event pays for it no more.
    public mutating func giveBack(_ paid: Paid, nowMs: Int) {
        logs.takeBack(Log(payer: paid.payer, topic: paid.topic), paid.event, growth: paid.own)
        topics.takeBack(paid.topic, paid.event, growth: paid.all)
        let account = Account(payer: paid.payer, namespace: Array(paid.topic.namespace))
        let (own, all) = (paid.own + paid.event.passingBytes, paid.all + paid.event.passingBytes)
        buckets[paid.event.seconds]?.giveBack(
            account, own * KeptBudget.tokens, all * KeptBudget.tokens, nowMs: nowMs)
    }

    /// Pays for the arguments of a command from the payer's own bucket in a namespace.
    ///
    /// Nobody knows which data they replace. So they take nothing from the budget of all, or busy callers of a command that
    /// keeps nothing would shut everybody out.
    public mutating func pay(_ payer: Payer, _ event: KeptEvent, in namespace: [UInt8], nowMs: Int) -> Shortage? {
        let account = Account(payer: payer, namespace: namespace)
        return buckets[event.seconds, default: Buckets(sizes, seconds: event.seconds)]
            .payOwn(account, event.bytes * KeptBudget.tokens, nowMs: nowMs).map { .payer(waitMs: $0) }
    }

    /// Gives back what was paid for the arguments of a command that did not run.
    public mutating func giveBack(_ payer: Payer, _ event: KeptEvent, in namespace: [UInt8], nowMs: Int) {
        let account = Account(payer: payer, namespace: namespace)
        buckets[event.seconds]?.giveBackOwn(account, event.bytes * KeptBudget.tokens, nowMs: nowMs)
    }
}
