import Core

/// Answers the reads of each topic in the order in which they were asked for.
///
/// A read of several pages takes longer than one that was asked for after it, and an older answer behind a newer one
/// would tell clients of a past that others have left. Thread: the shard's.
final class ReadTurns {
    private final class Turn {
        let completion: LogRead.Completion
        var result: Result<LogRead.Answer, Refusal>?

        init(_ completion: @escaping LogRead.Completion) { self.completion = completion }
    }

    private var lines: [Topic: [Turn]] = [:]

    /// Takes a place in a topic's line; whoever reads calls what is returned, once, and never nothing.
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

    /// How many topics have a read under way.
    var count: Int { lines.count }
}

@available(*, unavailable)
extension ReadTurns: Sendable {}
