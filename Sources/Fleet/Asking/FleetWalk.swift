/// An answer in the making, in steps that are short enough to stand between two deliveries.
///
/// Thread: the shard's.
public protocol FleetWalk: AnyObject {
    /// Looks at a few more things; returns the answer once it has seen all.
    func step() -> FleetAnswer?
}

/// The rooms of a shard from which answers are made.
///
/// Thread: the shard's.
public protocol FleetSource: AnyObject {
    /// Begins the shard's answer to a question.
    func begin(_ question: FleetQuestion) -> any FleetWalk
}

/// An answer that needs no steps.
final class FleetWalkDone: FleetWalk {
    private let answer: FleetAnswer

    init(_ answer: FleetAnswer = FleetAnswer()) {
        self.answer = answer
    }

    func step() -> FleetAnswer? { answer }
}
