import RedisLink
import Testing

@testable import Operations

@Suite struct ServerBookTests {
    private static func figures(
        _ run: String = "a", used: Int = 10, bound: Int = 0, policy: String = "noeviction", evicted: Int = 0,
        appends: Bool = true
    ) -> ServerFigures {
        ServerFigures(
            runID: Array(run.utf8), usedBytes: used, boundBytes: bound, evictionPolicy: policy, evictedKeys: evicted,
            hasAppendOnlyFile: appends)
    }

    private static func book() -> ServerBook { ServerBook(evictionWarnMs: 1_000, percentMax: 90) }

    @Test func anEvictionIsToldForAWhileAndWhatWasBeforeIsPast() {
        var book = ServerBookTests.book()
        book.learned(ServerBookTests.figures(evicted: 5), of: "m", isWeak: false, wallMs: 1)
        #expect(book.eviction(wallMs: 1) == .fine() && book.evictions == 0)
        book.learned(ServerBookTests.figures(evicted: 7), of: "m", isWeak: false, wallMs: 10)
        #expect(book.eviction(wallMs: 1_009).cause == "evicted" && book.evictions == 2)
        #expect(book.eviction(wallMs: 1_010) == .fine())
        book.learned(ServerBookTests.figures(policy: "allkeys-lru", evicted: 7), of: "m", isWeak: false, wallMs: 5_000)
        #expect(book.eviction(wallMs: 5_000).cause == "policy")
        book.keep(only: [])
        #expect(book.eviction(wallMs: 5_000) == .fine())
    }

    @Test func aNewRunBeginsToCountAnew() {
        var book = ServerBookTests.book()
        book.learned(ServerBookTests.figures(evicted: 5), of: "m", isWeak: false, wallMs: 1)
        book.learned(ServerBookTests.figures("b", evicted: 1, appends: false), of: "m", isWeak: false, wallMs: 2)
        #expect(book.eviction(wallMs: 2) == .fine())
        #expect(book.persistence == .fine(figures: [("appendonly", "no")]))
    }

    @Test func memoryIsToldFromThePercentageOnAndFineAgainALittleBelow() {
        var book = ServerBookTests.book()
        func used(_ bytes: Int) -> RowState.Severity {
            book.learned(ServerBookTests.figures(used: bytes, bound: 1_000), of: "m", isWeak: false, wallMs: 1)
            return book.memory.severity
        }
        #expect([899, 900, 860, 850, 849].map(used) == [.fine, .warned, .warned, .warned, .fine])
    }

    @Test func persistenceIsToldWhileItIsOffAndForTheRestOfAWeakRun() {
        var book = ServerBookTests.book()
        book.learned(ServerBookTests.figures(), of: "m", isWeak: false, wallMs: 1)
        #expect(book.persistence == .fine(figures: [("appendonly", "yes")]))
        book.learned(ServerBookTests.figures(appends: false), of: "m", isWeak: true, wallMs: 2)
        #expect(book.persistence.cause == "appendonly")
        book.learned(ServerBookTests.figures(), of: "m", isWeak: true, wallMs: 3)
        #expect(book.persistence.cause == "sync")
        book.learned(ServerBookTests.figures("b"), of: "m", isWeak: false, wallMs: 4)
        #expect(book.persistence == .fine(figures: [("appendonly", "yes")]))
    }
}
