import TestSupport
import Testing

@testable import SwitchboardClient

/// No call is lost and none done twice, no event comes out of order, every gap is told: in every history.
struct SimulationTests {
    @Test("random histories with faults")
    func histories() {
        for seed in 1...UInt64(Histories.count(200)) {
            var simulation = Simulation(seed: seed)
            if let violation = simulation.run() {
                Issue.record("seed \(seed): \(violation)")
                return
            }
        }
    }

    @Test("each seeded bug is found", arguments: Mutant.allCases)
    func bugs(_ mutant: Mutant) {
        let isFound = (UInt64(1)...500).contains { seed in
            var simulation = Simulation(seed: seed, mutant: mutant)
            return simulation.run() != nil
        }
        #expect(isFound, "no history found it")
    }
}
