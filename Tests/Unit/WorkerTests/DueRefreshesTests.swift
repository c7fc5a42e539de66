import Testing

@testable import Worker

/// The order in which a test of a pack runs refreshes.
@Suite struct DueRefreshesTests {
    private func name(_ refresh: Int, _ id: String) -> DueRefreshes.Name {
        DueRefreshes.Name(refresh: refresh, id: Array(id.utf8))
    }

    @Test func aChangedNameRunsOnceInTheOrderOfTheChanges() {
        var due = DueRefreshes()
        for change in [name(1, "b"), name(0, "a"), name(1, "b")] { due.change(change) }
        #expect(due.take() == [name(1, "b"), name(0, "a")])
        #expect(due.isEmpty && due.take() == [])
    }

    @Test func anAskedTimeIsReachedInTheOrderOfTheTimes() {
        var due = DueRefreshes()
        due.ended(name(0, "a"), isIdle: false, againMs: 300)
        due.ended(name(1, "b"), isIdle: false, againMs: 200)
        due.ended(name(2, "c"), isIdle: false, againMs: nil)
        #expect(due.nextMs == 200)
        due.reach(199)
        #expect(due.isEmpty)
        due.reach(300)
        #expect(due.take() == [name(1, "b"), name(0, "a")])
        #expect(due.nextMs == nil)
    }

    /// A run for a change takes the place of the run that was asked for before it.
    @Test func aChangeForgetsTheTime() {
        var due = DueRefreshes()
        due.ended(name(0, "a"), isIdle: false, againMs: 300)
        due.change(name(0, "a"))
        #expect(due.take() == [name(0, "a")] && due.nextMs == nil)
    }

    @Test func aSweepLeavesOutWhatIsIdle() {
        var due = DueRefreshes()
        due.ended(name(0, "a"), isIdle: false, againMs: nil)
        due.ended(name(0, "b"), isIdle: false, againMs: nil)
        due.ended(name(0, "a"), isIdle: true, againMs: nil)
        due.sweep()
        #expect(due.take() == [name(0, "b")])
    }
}
