import Core
import Reactors

/// Reads of Redis for operators: callers that ask the same within a moment get one answer.
///
/// Bounded by the number of subjects. Thread: the shard's.
final class SharedReads<Subject: Hashable> {
    typealias Completion = (Result<[UInt8], Refusal>) -> Void

    private var known: [Subject: (answer: [UInt8], untilMs: Int)] = [:]
    private var waiting: [Subject: [Completion]] = [:]
    private let nowMs: () -> Int
    private let lifeMs: Int

    /// Shares an answer for `lifeMs`; `nowMs` is the shard's clock, monotonic milliseconds.
    init(lifeMs: Int, nowMs: @escaping () -> Int) {
        (self.lifeMs, self.nowMs) = (lifeMs, nowMs)
    }

    /// Answers from another's read; false when there is none, so that the caller has to ``read(_:_:by:)``.
    func join(_ subject: Subject, _ completion: @escaping Completion) -> Bool {
        if let known = known[subject], known.untilMs > nowMs() {
            completion(.success(known.answer))
            return true
        }
        guard waiting[subject] != nil else { return false }
        waiting[subject]?.append(completion)
        return true
    }

    /// Reads for a caller, and for those that join meanwhile; a refusal is not kept.
    func read(_ subject: Subject, _ completion: @escaping Completion, by read: (@escaping Completion) -> Void) {
        waiting[subject] = [completion]
        read { [self] result in
            known[subject] = (try? result.get()).map { ($0, nowMs() + lifeMs) }
            for completion in waiting.removeValue(forKey: subject) ?? [] { completion(result) }
        }
    }
}
