import TestSupport
import Testing

@testable import Operations

@Suite struct HealthTests {
    @Test func reasonsHaveWordsOfTheirOwn() {
        let labels = NotReadyReason.all.map(\.label)
        #expect(Set(labels).count == labels.count)
    }

    @Test func everyReasonHasItsRowInTheDocumentation() throws {
        let text = try ProjectFiles.text("docs/readiness.md")
        let transports = text.split(separator: "\n").drop { $0 != "## What `/readyz` answers" }.dropFirst()
        let rows = transports.prefix { !$0.hasPrefix("#") }.filter { $0.hasPrefix("| `") }
        let words = rows.flatMap { row in
            row.split(separator: "|").first?.split(separator: "`").filter { $0 != " " && $0 != ", " } ?? []
        }
        #expect(words.map { String($0) } == NotReadyReason.all.map(\.label))
    }

    @Test func aDrainComesBeforeFaultsAndFaultsBeforeWhatFollowsFromThem() {
        let health = Health()
        #expect(health.notReadyBecause == "starting")
        health.delivery([], provenMs: 5)
        #expect(health.notReadyBecause == nil)
        #expect(health.probeAgeMs(nowMs: 12) == 7)
        health.set(.descriptors, .red())
        health.delivery([Condition(.subscriber(0), .probeLost)], provenMs: 5)
        health.failed(.shard(1), .shardFailed)
        health.drain()
        #expect(health.conditions.map(\.reason) == [.draining, .shardFailed, .probeLost, .row(.descriptors)])
        #expect(health.reasons == [.draining, .threads, .redis, .descriptors])
    }
}
