import Core
import Topics

/// Answers the reads of each topic in the order in which they were requested.
///
/// A read of several pages takes longer than a later one. An older answer after a newer one would set clients back to a
/// past state. Thread: the shard's.
final class ReadOrder {
    private final class Turn {
        let completion: LogRead.Completion
        var result: Result<LogRead.Answer, Refusal>?

        init(_ completion: @escaping LogRead.Completion) { self.completion = completion }
    }

    private var lines: [Topic: [Turn]] = [:]

    /// Queues a read of a topic; the caller calls the returned completion exactly once.
    func turn(of topic: Topic, _ completion: @escaping LogRead.Completion) -> LogRead.Completion {
        let turn = Turn(completion)
        lines[topic, default: []].append(turn)
        return { [self] result in
            turn.result = result
            while let first = lines[topic]?.first, let result = first.result {
                lines[topic]?.removeFirst()
                if lines[topic]?.isEmpty == true { lines[topic] = nil }
                first.completion(result)
            }
        }
    }

    /// Number of topics with a read under way.
    var count: Int { lines.count }
}

@available(*, unavailable)
extension ReadOrder: Sendable {}
