import TestSupport
import Testing

/// Sessions under every order of subscribing, leaving, authenticating, publishing, answers, refusals and cuts.
///
/// Each request is answered once; the last word on a topic wins; what was acknowledged is heard, and nothing else is.
@Suite struct SessionSimulationTests {
    static let seedsPerCase = Histories.count(500, atLeast: 100)

    @Test(arguments: 0..<8)
    func theLastWordWinsAndEachRequestIsAnsweredOnce(_ part: Int) throws {
        let fixtures = try SessionWorld.Fixtures()
        for index in 0..<SessionSimulationTests.seedsPerCase {
            let seed = UInt64(part * SessionSimulationTests.seedsPerCase + index)
            let world = SessionWorld(seed: seed, fixtures: fixtures)
            world.run(steps: 20 + index % 100)
            guard let violation = world.violation else { continue }
            let again = SessionWorld(seed: seed, fixtures: fixtures, keepsStory: true)
            again.run(steps: 20 + index % 100)
            Issue.record("seed \(seed): \(violation)\n\(again.story.joined(separator: "\n"))")
            return
        }
    }

    /// The checks see each mistake within a few thousand histories.
    @Test(arguments: TamperedSession.Fault.allCases.filter { $0 != .nothing })
    func aMistakeIsSeen(_ fault: TamperedSession.Fault) throws {
        let fixtures = try SessionWorld.Fixtures()
        let seen = (0..<3_000).first { seed in
            let world = SessionWorld(seed: UInt64(seed), fixtures: fixtures, fault: fault)
            world.run(steps: 100)
            return world.violation != nil
        }
        #expect(seen != nil)
    }

    /// A session that is not tampered with has the same histories: it is the mistakes that are seen, not the tampering.
    @Test func tamperingItselfChangesNothing() throws {
        let fixtures = try SessionWorld.Fixtures()
        for seed in 0..<100 as Range<UInt64> {
            let worlds = [nil, TamperedSession.Fault.nothing].map {
                SessionWorld(seed: seed, fixtures: fixtures, fault: $0, keepsStory: true)
            }
            for world in worlds { world.run(steps: 100) }
            #expect(worlds[0].story == worlds[1].story && worlds[1].violation == nil, "seed \(seed)")
        }
    }
}
