public import Core
public import Operations
public import Reactors
public import Rights

/// Sends reads to Redis: charged, bounded in weight, in turns (see ``ReadQueue``).
///
/// Thread: the shard's.
public final class ReadScheduler {
    /// A waiting read.
    public struct Read {
        /// The caller whose turn it takes; `.crowd` for the gateway's own reads.
        public let payer: Payer
        /// Sends it; the argument must be called once it is over.
        public let send: (_ over: @escaping () -> Void) -> Void
        /// Called when it was not sent, and never will be.
        public let refuse: (Refusal) -> Void

        /// A read of a payer; exactly one of `send` and `refuse` is called.
        public init(
            payer: Payer, send: @escaping (_ over: @escaping () -> Void) -> Void, refuse: @escaping (Refusal) -> Void
        ) {
            self.payer = payer
            self.send = send
            self.refuse = refuse
        }
    }

    /// The budgets that reads are charged to, those of the node.
    public let budgets: Budgets
    let statistics: ShardStatistics
    private let reactor: Reactor
    private let waitMs: Int
    private let gatewayWaitMs: Int
    private var queue: ReadQueue<Read>
    private var timer: ReactorTimer?
    private var isSending = false

    /// An empty queue, with the bounds and waiting times of `limits`; fails without a timer.
    public init(_ reactor: Reactor, limits: Limits, budgets: Budgets, statistics: ShardStatistics) throws(Errno) {
        self.reactor = reactor
        self.budgets = budgets
        self.statistics = statistics
        waitMs = limits.readWaitMs
        gatewayWaitMs = limits.redisCallMs
        queue = ReadQueue(inFlightUsMax: limits.readWeightInFlightMax, waitingUsMax: limits.readWeightWaitingMax)
        timer = try ReactorTimer(reactor) { [unowned self] in sendNext() }
    }

    /// Monotonic milliseconds of this tick.
    var nowMs: Int { reactor.nowMs }

    /// Queues a read of a caller, whose own budget was charged.
    public func add(_ read: Read, weightUs: Int) {
        let place: ReadQueue<Read>.Class = read.payer.kind == .anonymous ? .anonymous : .known
        let deadlineMs = reactor.nowMs + waitMs
        switch queue.add(read, place, read.payer, weightUs: weightUs, deadlineMs: deadlineMs) {
        case .taken: break
        case .displaced(let other): refuse(other)
        case .refused: return refuse(read)
        }
        sendNext()
    }

    /// Queues a read of the gateway itself: for joining clients, or for a repair.
    public func addOwn(
        weightUs: Int, refuse: @escaping (Refusal) -> Void, send: @escaping (@escaping () -> Void) -> Void
    ) {
        let read = Read(payer: .crowd, send: send, refuse: refuse)
        let deadlineMs = reactor.nowMs + gatewayWaitMs
        _ = queue.add(read, .gateway, .crowd, weightUs: weightUs, deadlineMs: deadlineMs)
        sendNext()
    }

    /// Refuses reads that have waited too long; called now and then.
    public func sweep() {
        for read in queue.expire(nowMs: reactor.nowMs) { refuse(read) }
        sendNext()
    }

    private func refuse(_ read: Read) {
        read.refuse(budgets.refuseRead(read.payer, waitingUs: queue.waitingUs))
    }

    /// Sends the reads that may go now.
    ///
    /// A read on a link that is down ends at once, inside its sending. One loop then serves any number of waiting
    /// reads.
    private func sendNext() {
        guard !isSending else { return }
        isSending = true
        defer {
            isSending = false
            statistics.readsWaiting.set(queue.waiting)
        }
        let nowMs = reactor.nowMs
        var wakeMs: Int?
        while let (read, weightUs) = queue.next(payShared: { [budgets] us in
            wakeMs = budgets.payShared(us: us, nowMs: nowMs)
            return wakeMs == nil
        }) {
            read.send { [self] in
                queue.finished(weightUs: weightUs)
                sendNext()
            }
        }
        if let wakeMs { timer?.set(atMs: nowMs + wakeMs) }
    }
}

@available(*, unavailable)
extension ReadScheduler: Sendable {}
