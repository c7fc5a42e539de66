public import Commands
public import Core
import Reactors
public import Rights

/// The budgets of callers in this node: their cost for Redis, and the rates that scripts declare for calls.
///
/// A lock outside the mailbox (D8), taken for commands, joins and reads, never for a delivered message. Each of these
/// costs Redis more than the lock costs the gateway. Thread: any.
public final class Budgets: Sendable {
    /// The reason of a refusal; the raw value is the metric label.
    enum Reason: String, CaseIterable {
        /// The payer's own bucket is empty.
        case own
        /// The bucket that all anonymous callers share is empty.
        case shared
        /// A rate that a script declares.
        case rate
        /// Too many reads wait.
        case queue
        /// The payer keeps too many bytes in Redis.
        case bytes
        /// All users and anonymous callers keep too many bytes in a namespace.
        case namespace
    }

    /// The charges of a writing command to its caller before it runs.
    public struct Bill: Sendable {
        /// The command's name, by which its calls are counted.
        public let command: String
        /// The rates that its script declares.
        public let rates: [CallRate]
        /// The caller's role, which some rates are for.
        public let role: CommandRole
        /// Microseconds of Redis.
        public let us: Int
        /// The bytes of its arguments.
        public let kept: KeptEvent
        /// The namespace in which they stay.
        public let namespace: [UInt8]

        /// A bill of `us` microseconds and of the bytes in `kept`; neither is charged yet.
        public init(command: String, rates: [CallRate], role: CommandRole, us: Int, kept: KeptEvent, namespace: [UInt8])
        {
            self.command = command
            self.rates = rates
            self.role = role
            self.us = us
            self.kept = kept
            self.namespace = namespace
        }
    }

    private struct Key: Hashable {
        let kind: Payer.Kind
        let reason: Reason
    }

    private struct State {
        var weights: WeightBudget
        var kept: KeptBudget
        var rates: CallRates
        /// Topics that connections without a token hold, by address; at most one entry for each connection.
        var held: [Payer: Int] = [:]
        var refused: [Key: Int] = [:]

        mutating func count(_ payer: Payer, _ reason: Reason) {
            refused[Key(kind: payer.kind, reason: reason), default: 0] += 1
        }
    }

    private let state: Guarded<State>
    private let talkers: Talkers
    private let sharedPerSecond: Int
    private let topicsPerAddressMax: Int

    /// Full budgets; `talkers` counts what is charged.
    public init(_ limits: Limits, talkers: Talkers, nowMs: Int) {
        self.talkers = talkers
        sharedPerSecond = limits.anonymousRedisUsPerSecond
        topicsPerAddressMax = limits.topicsPerAddressMax
        func rate(_ usPerSecond: Int, seconds: Int) -> RateLimit {
            RateLimit(perSecond: usPerSecond, burst: usPerSecond * seconds)
        }
        let sizes = WeightBudget.Sizes(
            address: rate(limits.addressRedisUsPerSecond, seconds: 5),
            user: rate(limits.userRedisUsPerSecond, seconds: 10),
            service: rate(limits.serviceRedisUsPerSecond, seconds: 2),
            anonymous: RateLimit(perSecond: sharedPerSecond, burst: max(1, sharedPerSecond / 2)),
            payersMax: limits.rateBucketsMax)
        let kept = KeptBudget.Sizes(
            address: limits.addressKeptBytes, user: limits.userKeptBytes, namespace: limits.namespaceKeptBytes,
            placesMax: limits.rateBucketsMax)
        state = Guarded(
            State(
                weights: WeightBudget(sizes, nowMs: nowMs), kept: KeptBudget(kept),
                rates: CallRates(payersMax: limits.rateBucketsMax)))
    }

    /// Charges a call to the payer's own budget, and for an anonymous payer also to the shared one.
    ///
    /// `nil` when it was charged; otherwise neither budget changed.
    public func pay(_ payer: Payer, us: Int, nowMs: Int) -> Refusal? {
        if let refusal = take(payer, us: us, nowMs: nowMs) { return refusal }
        talkers.count(TalkerFigures(redisUs: us), payer, nowMs: nowMs)
        return nil
    }

    private func take(_ payer: Payer, us: Int, nowMs: Int) -> Refusal? {
        state.withLock { state in
            if payer.kind == .anonymous {
                let waitMs = state.weights.sharedWaitMs(us: us, nowMs: nowMs)
                if waitMs > 0 {
                    state.count(payer, .shared)
                    return Budgets.refusal(.shared, waitMs)
                }
            }
            if let waitMs = state.weights.pay(payer, us: us, nowMs: nowMs) {
                state.count(payer, .own)
                return Budgets.refusal(.own, waitMs)
            }
            if payer.kind == .anonymous { _ = state.weights.payShared(us: us, nowMs: nowMs) }
            return nil
        }
    }

    /// Counts an accepted event among what callers ask; a backend, which pays nothing, also for its time.
    public func published(_ payer: Payer, bytes: Int, on topic: Topic, us: Int, nowMs: Int) {
        let figures = TalkerFigures(events: 1, bytes: bytes, redisUs: payer.kind == .service ? us : 0)
        talkers.count(figures, payer, namespace: topic.namespace, nowMs: nowMs)
    }

    /// Charges the bytes that a publish leaves in Redis; `nil` for a service, which pays nothing.
    public func keep(
        _ payer: Payer, _ event: KeptEvent, on topic: Topic, nowMs: Int
    ) -> Result<KeptBudget.Paid?, Refusal> {
        state.withLock { state in
            do throws(KeptBudget.Shortage) {
                return .success(try state.kept.keep(payer, event, on: topic, nowMs: nowMs))
            } catch {
                return .failure(Budgets.refuse(&state, payer, error))
            }
        }
    }

    /// Gives back the bytes of an event that Redis did not store.
    public func giveBack(_ paid: KeptBudget.Paid, nowMs: Int) {
        state.withLock { $0.kept.giveBack(paid, nowMs: nowMs) }
    }

    /// Charges a writing command: its arguments' bytes, its time, and its place among the calls of its rates.
    ///
    /// `nil` when all was paid; otherwise nothing was taken.
    public func pay(_ payer: Payer, _ bill: Bill, nowMs: Int) -> Refusal? {
        let shortage = state.withLock { state in
            state.kept.pay(payer, bill.kept, in: bill.namespace, nowMs: nowMs).map {
                Budgets.refuse(&state, payer, $0)
            }
        }
        if let shortage { return shortage }
        if let refusal = take(payer, us: bill.us, nowMs: nowMs) {
            giveBack(payer, bill, us: 0, nowMs: nowMs)
            return refusal
        }
        // A place among the calls of a rate is taken last: it alone cannot be given back.
        if let refusal = keep(bill.rates, of: bill.command, payer, role: bill.role, nowMs: nowMs) {
            giveBack(payer, bill, us: bill.us, nowMs: nowMs)
            return refusal
        }
        talkers.count(TalkerFigures(redisUs: bill.us), payer, nowMs: nowMs)
        return nil
    }

    private func giveBack(_ payer: Payer, _ bill: Bill, us: Int, nowMs: Int) {
        state.withLock { state in
            state.weights.giveBack(payer, us: us, nowMs: nowMs)
            state.kept.giveBack(payer, bill.kept, in: bill.namespace, nowMs: nowMs)
        }
    }

    private static func refuse(_ state: inout State, _ payer: Payer, _ shortage: KeptBudget.Shortage) -> Refusal {
        switch shortage {
        case .payer(let waitMs):
            state.count(payer, .bytes)
            return Refusal(.rateLimited, "you keep more than your share of the store's bytes", retryAfterMs: waitMs)
        case .namespace(let waitMs):
            state.count(payer, .namespace)
            let text = "the callers of this namespace keep more than its share of the store's bytes"
            return Refusal(.rateLimited, text, retryAfterMs: waitMs)
        }
    }

    /// Charges a read to the payer's own budget; ``payShared(us:nowMs:)`` charges an anonymous one when it is sent.
    public func payOwn(_ payer: Payer, us: Int, nowMs: Int) -> Refusal? {
        let refusal: Refusal? = state.withLock { state in
            guard let waitMs = state.weights.pay(payer, us: us, nowMs: nowMs) else { return nil }
            state.count(payer, .own)
            return Budgets.refusal(.own, waitMs)
        }
        if refusal == nil { talkers.count(TalkerFigures(redisUs: us), payer, nowMs: nowMs) }
        return refusal
    }

    /// Charges the budget that all anonymous callers share; otherwise returns the milliseconds until it could.
    public func payShared(us: Int, nowMs: Int) -> Int? {
        state.withLock { $0.weights.payShared(us: us, nowMs: nowMs) }
    }

    /// Charges the cost of a call beyond the part already charged.
    public func charge(_ payer: Payer, us: Int, nowMs: Int) {
        guard us > 0 else { return }
        state.withLock { $0.weights.charge(payer, us: us, nowMs: nowMs) }
        talkers.count(TalkerFigures(redisUs: us), payer, nowMs: nowMs)
    }

    /// Number of further topics that connections from an address may hold without a token.
    public func room(of address: Payer) -> Int {
        address == .crowd ? Int.max : topicsPerAddressMax - state.withLock { $0.held[address] ?? 0 }
    }

    /// Reports that the connections from an address hold so many more topics; a negative number means fewer.
    public func hold(_ count: Int, _ address: Payer) {
        guard address != .crowd else { return }
        state.withLock { state in
            let held = (state.held[address] ?? 0) + count
            state.held[address] = held > 0 ? held : nil
        }
    }

    /// Counts a call against the rates that its script declares for callers of that role.
    public func keep(_ rates: [CallRate], of command: String, _ payer: Payer, role: CommandRole, nowMs: Int) -> Refusal?
    {
        let kept = rates.filter { $0.payer.role == role && !$0.isMarked }
        guard !kept.isEmpty, payer != .crowd else { return nil }
        return state.withLock { state in
            let rates = kept.map { CallRates.Rate(calls: $0.calls, seconds: $0.seconds) }
            guard let waitMs = state.rates.take(command, payer, rates, nowMs: nowMs) else { return nil }
            state.count(payer, .rate)
            let text = kept.map { "\($0.calls) in \($0.seconds) s" }.joined(separator: ", ")
            return Refusal(.rateLimited, "more than \(text) calls of \(command)", retryAfterMs: waitMs)
        }
    }

    /// Milliseconds until a call that its script marks may be made; 0 when it may be made now.
    public func waitForMark(_ rates: [CallRate], of command: String, _ payer: Payer, role: CommandRole, nowMs: Int)
        -> Int
    {
        let rates = Budgets.marked(rates, role)
        return rates.isEmpty ? 0 : state.withLock { $0.rates.waitMs(command + " marked", payer, rates, nowMs: nowMs) }
    }

    /// Counts a call that its script has marked; simultaneous calls leave a debt.
    public func mark(_ rates: [CallRate], of command: String, _ payer: Payer, role: CommandRole, nowMs: Int) {
        let rates = Budgets.marked(rates, role)
        state.withLock { $0.rates.charge(command + " marked", payer, rates, nowMs: nowMs) }
    }

    private static func marked(_ rates: [CallRate], _ role: CommandRole) -> [CallRates.Rate] {
        let marked = rates.filter { $0.payer.role == role && $0.isMarked }
        return marked.map { CallRates.Rate(calls: $0.calls, seconds: $0.seconds) }
    }

    /// Charges the bytes that a command's events leave in Redis beyond the part already charged.
    public func chargeKept(_ payer: Payer, _ event: KeptEvent, on topic: Topic, nowMs: Int) {
        state.withLock { $0.kept.charge(payer, event, on: topic, nowMs: nowMs) }
    }

    /// The refusal of a read for which the queue has no room, or whose turn did not come in time.
    public func refuseRead(_ payer: Payer, waitingUs: Int) -> Refusal {
        state.withLock { $0.count(payer, .queue) }
        guard payer.kind == .anonymous else {
            return Refusal(.unavailable, "too many reads wait; try again", retryAfterMs: 1_000)
        }
        return Budgets.refusal(.shared, max(1_000, waitingUs * 1_000 / max(1, sharedPerSecond)))
    }

    private static func refusal(_ reason: Reason, _ waitMs: Int) -> Refusal {
        let text =
            reason == .own
            ? "you ask more than your share of the store's time"
            : "callers without a token ask more than their share of the store's time"
        return Refusal(.rateLimited, text, retryAfterMs: waitMs)
    }

    /// Refusals so far, by kind of payer and reason.
    var refused: [(kind: Payer.Kind, reason: Reason, count: Int)] {
        let counts = state.withLock { $0.refused }
        return Payer.Kind.allCases.flatMap { kind in
            Reason.allCases.map { (kind, $0, counts[Key(kind: kind, reason: $0)] ?? 0) }
        }
    }
}
