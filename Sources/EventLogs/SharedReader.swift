public import Core
import Operations
import Reactors
public import Rights

/// Reads of one kind that callers share when they ask the same at the same time.
///
/// Thread: the shard's.
public final class SharedReader<Answer> {
    /// The properties in which two reads must agree to be shared.
    ///
    /// They are script, keys and arguments, without the time and others that differ from call to call.
    public struct Key: Hashable, Sendable {
        /// The name of the script, or of the kind of read.
        public let script: String
        /// The keys of Redis that it reads.
        public let keys: [[UInt8]]
        /// The arguments that decide the answer.
        public let arguments: [[UInt8]]
        /// Whether the callers are anonymous; these wait in another class, and share no read with known ones.
        public let isAnonymous: Bool

        /// The key of a read; reads with equal keys share one answer.
        public init(script: String, keys: [[UInt8]], arguments: [[UInt8]], isAnonymous: Bool) {
            self.script = script
            self.keys = keys
            self.arguments = arguments
            self.isAnonymous = isAnonymous
        }
    }

    /// The answer, or the reason why there is none.
    public typealias Outcome = Result<Answer, Refusal>
    /// Receives the outcome once, on the shard's thread.
    public typealias Waiter = (Outcome) -> Void

    private struct Waiting {
        let payer: Payer
        let answer: Waiter
    }

    private let scheduler: ReadScheduler
    private var shared = SharedReads<Key, Waiting>()

    /// A reader whose reads take their turns in the scheduler.
    public init(_ scheduler: ReadScheduler) {
        self.scheduler = scheduler
    }

    /// Answers a caller with a read that is sent from now on.
    ///
    /// It is one for which others wait already, or a new one, which is charged to the caller. `run` calls Redis at the
    /// read's turn, so it takes the time then.
    public func read(
        _ key: Key, payer: Payer, weightUs: Int, run: @escaping (@escaping Waiter) -> Void, _ answer: @escaping Waiter
    ) {
        if shared.isCoalesced(key) {
            scheduler.statistics.readsShared.add(1)
        } else if let refusal = scheduler.budgets.payOwn(payer, us: weightUs, nowMs: scheduler.nowMs) {
            return answer(.failure(refusal))
        }
        guard shared.add(Waiting(payer: payer, answer: answer), key) else { return }
        queue(key, payer: payer, weightUs: weightUs, run: run)
    }

    private func queue(_ key: Key, payer: Payer, weightUs: Int, run: @escaping (@escaping Waiter) -> Void) {
        let read = ReadScheduler.Read(
            payer: payer,
            send: { [self] over in
                shared.sent(key)
                run { [self] outcome in
                    over()
                    let (waiters, next) = shared.answered(key)
                    if let next { queue(key, payer: next.payer, weightUs: weightUs, run: run) }
                    for waiter in waiters { waiter.answer(outcome) }
                }
            },
            refuse: { [self] refusal in
                for waiter in shared.refused(key) { waiter.answer(.failure(refusal)) }
            })
        scheduler.add(read, weightUs: weightUs)
    }
}

@available(*, unavailable)
extension SharedReader: Sendable {}
