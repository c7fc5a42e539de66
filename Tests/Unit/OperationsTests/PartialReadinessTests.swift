import RedisLink
import Testing

@testable import Operations

/// What `--ready-partial` lets pass.
@Suite struct PartialReadinessTests {
    static func of(_ part: Condition.Part, _ reason: NotReadyReason) -> Condition {
        Condition(.master(part, at: "a:1"), reason)
    }

    @Test func aDeadMasterLeavesTheNodeReadyForTheOthers() {
        var readiness = PartialReadiness()
        let dead = [
            PartialReadinessTests.of(.subscriber(0), .redis(.disconnected)),
            PartialReadinessTests.of(.shard(0), .redis(.disconnected)), Condition(.node, .slotsUncovered),
        ]
        let (some, none) = (readiness.judge(proven: 2, dead), readiness.judge(proven: 0, dead))
        #expect(some)
        #expect(!none, "no master is left")
    }

    @Test func atTheStartNobodyComesBeforeWhatIsMissingIsKnownToFail() {
        var readiness = PartialReadiness()
        let onItsWay = [PartialReadinessTests.of(.shard(0), .connecting)]
        let early = readiness.judge(proven: 2, onItsWay)
        let (whole, later) = (readiness.judge(proven: 3, []), readiness.judge(proven: 2, onItsWay))
        #expect(!early)
        #expect(whole)
        #expect(later, "a master that follows another")
    }

    @Test func whatIsWrongWithTheNodeItselfIsNoPart() {
        var readiness = PartialReadiness()
        for condition in [Condition(.node, .connecting), Condition(.shard(0), .shardFailed)] {
            let isReady = readiness.judge(proven: 2, [condition])
            #expect(!isReady)
        }
    }

    @Test func aPartIsEnoughOnlyWhereTheOperatorSaysSo() {
        for isEnough in [false, true] {
            let health = Health(isPartialEnough: isEnough)
            #expect(!health.isReady)
            let conditions = [PartialReadinessTests.of(.shard(0), .redis(.disconnected))]
            health.delivery(conditions, provenMs: nil, isPartlyProven: true)
            #expect(health.isReady == isEnough)
            #expect(health.conditions == conditions && (health.notReadyBecause == nil) == isEnough)
            health.set(.memory, .red())
            #expect(!health.isReady, "what else is wrong counts as ever")
            health.set(.memory, .fine())
            health.delivery(conditions, provenMs: nil, isPartlyProven: false)
            #expect(!health.isReady)
            health.delivery([], provenMs: 1)
            #expect(health.isReady)
            health.drain()
            #expect(health.notReadyBecause == "draining")
        }
    }
}
