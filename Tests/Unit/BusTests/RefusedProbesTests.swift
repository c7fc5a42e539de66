import RedisLink
import Testing

@testable import Bus
@testable import Operations

extension DeliveryProbes {
    /// A shard's number returns at both shards; whether both awaited it.
    fileprivate mutating func back(_ number: Int, of publisher: Int, nowMs: Int) -> Bool {
        let first = returned(number, of: publisher, at: 0, nowMs: nowMs)
        return returned(number, of: publisher, at: 1, nowMs: nowMs) && first
    }
}

@Suite struct RefusedProbesTests {
    private func connected() -> DeliveryProbes {
        let runID = Array(repeating: UInt8(ascii: "1"), count: 40)
        var probes = DeliveryProbes(shards: 2, intervalMs: 100, timeoutMs: 300)
        for shard in 0..<2 {
            probes.subscriber(shard, .up(runID: runID), nowMs: 0)
            probes.calls(shard, .up(runID: runID), nowMs: 0)
            probes.subscriberLive(shard)
        }
        return probes
    }

    private func told(_ probes: DeliveryProbes) -> [String] {
        probes.conditions.map { "\($0.part.name) \($0.reason.label)" }
    }

    /// PUBLISH would have come back: what is refused is the write, and dialling again would not mend it.
    @Test func aNumberThatCouldNotBeWrittenIsToldAndNoLinkIsDialledAgain() {
        var probes = connected()
        _ = probes.due(nowMs: 0, resumedMs: .min)
        probes.refused(2, shard: 1, RedisFailure(.noReplicas, text: "NOREPLICAS"), nowMs: 1)
        probes.refused(1, shard: 7, RedisFailure(.noReplicas), nowMs: 1)
        #expect(probes.back(1, of: 0, nowMs: 2) == true)
        #expect(told(probes) == ["shard-1 unproven"], "neither was the awaited one")
        probes.refused(1, shard: 1, RedisFailure(.noReplicas, text: "NOREPLICAS"), nowMs: 3)
        #expect(told(probes) == ["shard-1 noreplicas"])
        #expect(probes.conditions.first?.detail == "NOREPLICAS")
        #expect(probes.back(1, of: 1, nowMs: 4) == false, "it is not awaited any more")
        for (number, nowMs) in [(2, 100), (3, 200), (4, 300), (5, 400)] {
            #expect(probes.due(nowMs: nowMs, resumedMs: .min) == [.send(number: number, shards: [0, 1])])
            #expect(probes.back(number, of: 0, nowMs: nowMs + 1) == true)
            probes.refused(number, shard: 1, RedisFailure(.noReplicas), nowMs: nowMs + 1)
        }
        #expect(probes.due(nowMs: 500, resumedMs: .min) == [.send(number: 6, shards: [0, 1])])
        #expect(probes.back(6, of: 0, nowMs: 501) && probes.back(6, of: 1, nowMs: 501))
        #expect(told(probes) == [])
    }
}
