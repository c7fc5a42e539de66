import Fleet

/// The answer of a node without clients.
final class TopNothing: FleetWalk {
    /// Nothing matches.
    func step() -> FleetAnswer? { FleetAnswer() }
}
