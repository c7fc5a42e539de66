public import Core

/// Asks all shards for their counts of a topic, and adds up the answers.
///
/// Thread: the shard's.
public final class TopicAudit {
    /// A message between two shards.
    public enum Message: Sendable {
        /// Report the shard's counts of a topic, for a question of another shard.
        case asked(Topic, question: Int, asker: Int)
        /// The counts of one shard.
        case answered(question: Int, TopicReport)
    }

    private let shard: Int
    private let count: Int
    private let limits: Limits
    private let send: (Message, _ shard: Int) -> Bool
    private var questions = TopicQuestions()

    /// The questions of shard `shard` of `count`; `send` returns false when a shard's mailbox is full.
    public init(shard: Int, count: Int, limits: Limits, send: @escaping (Message, _ shard: Int) -> Bool) {
        self.shard = shard
        self.count = count
        self.limits = limits
        self.send = send
    }

    /// Asks all shards.
    public func ask(_ topic: Topic, nowMs: Int, _ completion: @escaping (TopicReport) -> Void) {
        let question = questions.ask(of: count, nowMs: nowMs, completion)
        for other in 0..<count where !send(.asked(topic, question: question, asker: shard), other) {
            questions.answered(question, TopicReport())
        }
    }

    /// Takes a message of another shard; `report` returns this shard's own counts.
    public func take(_ message: Message, report: (Topic) -> TopicReport) {
        switch message {
        case .asked(let topic, let question, let asker):
            _ = send(.answered(question: question, report(topic)), asker)
        case .answered(let question, let report): questions.answered(question, report)
        }
    }

    /// Answers questions to which some shards have not replied in time.
    public func sweep(nowMs: Int) { questions.expire(nowMs: nowMs, afterMs: limits.reportWaitMs) }
}
