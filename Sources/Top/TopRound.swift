/// The answers that a round still waits for, and those that have come.
///
/// Thread: the reactor's.
final class TopRound {
    /// The answers so far.
    var answers = TopAnswers()
    private var left = 1
    private let completion: (TopAnswers) -> Void

    /// Begins with one part, the question for the nodes.
    init(_ completion: @escaping (TopAnswers) -> Void) { self.completion = completion }

    /// Adds a part; returns the action that ends it.
    func part() -> () -> Void {
        left += 1
        return { self.end() }
    }

    /// Ends a part; the last one completes the round.
    func end() {
        left -= 1
        if left == 0 { completion(answers) }
    }
}
