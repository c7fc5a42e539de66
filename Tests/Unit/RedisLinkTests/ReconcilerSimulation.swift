import TestSupport
import Testing

/// A reconciler, what is wanted of it, and the server that it talks to.
protocol ReconcilerSimulation {
    associatedtype Channel: Hashable

    init(seed: UInt64)

    /// What is wanted.
    var desired: Set<Channel> { get }
    /// What the server has.
    var server: Set<Channel> { get }
    /// Promises that were broken.
    var faults: [String] { get set }
    /// Whether nothing is on its way in either direction.
    var isQuiet: Bool { get }
    /// What the reconciler says of itself: whether all is as wanted, and how many channels it knows.
    var verdict: (isSettled: Bool, count: Int) { get }

    /// One random thing happens.
    mutating func step()
    /// From now on nothing goes wrong any more.
    mutating func calm()
    /// The reconciler sends, the server executes, the reconciler receives.
    mutating func pump()
    mutating func execute()
    mutating func receive()
}

extension ReconcilerSimulation {
    /// Lives through five rounds, each of which settles; what does not hold is an issue.
    ///
    /// `look` sees the end of each round.
    static func play(_ seed: UInt64, _ look: (Self, _ place: String) -> Void = { _, _ in }) {
        var simulation = Self(seed: seed)
        for round in 0..<5 {
            let place = "seed \(seed) round \(round)"
            for _ in 0..<300 { simulation.step() }
            simulation.settle()
            #expect(simulation.faults.isEmpty, "\(place)")
            #expect(simulation.server == simulation.desired, "\(place)")
            #expect(simulation.verdict.isSettled, "\(place)")
            #expect(simulation.verdict.count == simulation.desired.count, "\(place)")
            look(simulation, place)
        }
    }

    private mutating func settle() {
        for _ in 0..<1_000 {
            calm()
            pump()
            if isQuiet { return }
            execute()
            receive()
        }
        faults.append("never settles")
    }
}
