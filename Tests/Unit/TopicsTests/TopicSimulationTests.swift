import TestSupport
import Testing

/// Subscribing, history and live events under every order of things: 100 000 seeded histories.
///
/// A client that is live sees each event once and in order, or is told of a gap before what follows a hole; when
/// everything has come to rest, everybody stands where the log stands.
@Suite struct TopicSimulationTests {
    static let seedsPerCase = Histories.count(2_000)

    @Test(arguments: 0..<20)
    func nothingIsLostInSilence(_ part: Int) throws {
        let fixtures = try TopicWorld.Fixtures()
        for index in 0..<TopicSimulationTests.seedsPerCase {
            let seed = UInt64(part * TopicSimulationTests.seedsPerCase + index)
            let world = TopicWorld(seed: seed, fixtures: fixtures)
            world.run(steps: 20 + index % 60)
            guard let violation = world.violation else { continue }
            let again = TopicWorld(seed: seed, fixtures: fixtures, keepsStory: true)
            again.run(steps: 20 + index % 60)
            Issue.record("seed \(seed): \(violation)\n\(again.story.joined(separator: "\n"))")
            return
        }
    }

    /// The checks see each kind of fault within a few thousand histories.
    @Test(arguments: TopicWorld.Fault.allCases)
    func aFaultIsSeen(_ fault: TopicWorld.Fault) throws {
        let fixtures = try TopicWorld.Fixtures()
        let seen = (0..<5_000).contains { seed in
            let world = TopicWorld(seed: UInt64(seed), fixtures: fixtures, fault: fault)
            world.run(steps: 60)
            return world.violation != nil
        }
        #expect(seen)
    }
}
