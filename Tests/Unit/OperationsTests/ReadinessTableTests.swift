import Configuration
import Service
import Testing

@testable import Operations

@Suite struct ReadinessTableTests {
    @Test func aChangeIsLoggedOnceAndFiguresAreNoNews() {
        var table = ReadinessTable()
        #expect(table.red.isEmpty && table.warned.isEmpty)
        let transport = table.set(.rights, .red("wrong_type", figures: [("detail", "a")]), wallMs: 5)
        #expect(transport?.level == .error && transport?.text == "changes of rights cannot be read")
        #expect(transport?.fields.map(\.0) == ["row", "reason", "detail", "mend"])
        #expect(table.set(.rights, .red("wrong_type", figures: [("detail", "b")]), wallMs: 6) == nil)
        #expect(table.red == [.rights] && table[.rights]?.sinceMs == 5)
        #expect(table.set(.rights, .red("timed_out"), wallMs: 7) != nil && table[.rights]?.sinceMs == 5)
        #expect(table.set(.rights, .fine(), wallMs: 8)?.level == .info)
        #expect(table.red.isEmpty && table.set(.rights, .fine(), wallMs: 9) == nil)
    }

    @Test func aWarningTakesNobodyOutOfABalancer() {
        let health = Health()
        health.delivery([], provenMs: 1)
        health.set(.workers, .warned())
        #expect(health.isReady && health.reasons.isEmpty && health.warnings.map(\.row) == [.workers])
        #expect(health.warnings.first?.mend == ReadinessRow.workers.mend)
        health.set(.rights, .red())
        #expect(!health.isReady && health.notReadyBecause == "rights")
        health.set(.rights, .fine())
        #expect(health.isReady)
    }

    @Test func everyRowHasAMendAndANameOfItsOwn() {
        let mends = ReadinessRow.allCases.map(\.mend)
        #expect(Set(mends).count == mends.count && !mends.contains(""))
    }
}
