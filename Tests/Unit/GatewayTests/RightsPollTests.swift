import Rights
import Testing

@testable import Gateway

/// When a node asks what became of rights, and from where on.
@Suite struct RightsPollTests {
    private func page(top: Int = 0, revoked: Int = 0, removed: Int = 0, isFull: Bool = false) -> RightsPage {
        var page = RightsPage()
        page.top = top
        page.position = RightsPoll.Position(revoked: revoked, removed: removed)
        page.isFull = isFull
        return page
    }

    /// The expectation macro takes no call that changes its value.
    private func check(_ isTrue: Bool, _ location: SourceLocation = #_sourceLocation) {
        #expect(isTrue, sourceLocation: location)
    }

    @Test func oneQuestionAtATimeAndAtItsInterval() {
        var poll = RightsPoll(intervalMs: 500)
        check(poll.asks(nowMs: 0))
        check(!poll.asks(nowMs: 10_000))  // the first is not answered
        check(poll.took(page(), nowMs: 10_001) == .init(isComplete: true, checksMemberships: true))
        check(poll.asks(nowMs: 10_001))
        check(poll.took(page(), nowMs: 10_002) == .init(isComplete: true, checksMemberships: false))
        check(!poll.asks(nowMs: 10_500))
        check(poll.asks(nowMs: 10_501))
    }

    @Test func pagesFollowAtOnceUntilAllIsRead() {
        var poll = RightsPoll(intervalMs: 500)
        check(poll.asks(nowMs: 0))
        check(!poll.took(page(top: 9, revoked: 5, isFull: true), nowMs: 1).isComplete)
        check(poll.position.revoked == 5)
        check(poll.asks(nowMs: 1))
        check(poll.took(page(top: 9, revoked: 9), nowMs: 2).isComplete)
    }

    /// Removals are remembered for a minute: who was away may have missed some, and looks at every membership.
    @Test func whoWasAwayLooksAtEveryMembership() {
        var poll = RightsPoll(intervalMs: 500)
        check(poll.asks(nowMs: 0))
        _ = poll.took(page(), nowMs: 0)
        check(poll.asks(nowMs: 500))
        poll.failed()
        check(!poll.asks(nowMs: 501))
        poll.linkIsNew()
        check(poll.asks(nowMs: 502))
        check(poll.took(page(), nowMs: 503).checksMemberships)
        check(poll.asks(nowMs: 1_002))
        check(poll.took(page(), nowMs: 40_000).checksMemberships)  // an answer that took very long
    }

    /// Redis may come back with older data; what is written there from then on has earlier places.
    @Test func afterARollbackEverythingIsReadAgain() {
        var poll = RightsPoll(intervalMs: 500)
        check(poll.asks(nowMs: 0))
        _ = poll.took(page(top: 100, revoked: 100), nowMs: 0)
        check(poll.asks(nowMs: 500))
        check(poll.took(page(top: 60, revoked: 100), nowMs: 501) == .init(isComplete: false, checksMemberships: true))
        check(poll.position.revoked == 0)
        check(poll.asks(nowMs: 501))
        check(poll.took(page(top: 60, revoked: 60), nowMs: 502) == .init(isComplete: true, checksMemberships: false))
    }

    /// A member who was taken out stayed in for 17.5 s: places of removals had gone back, and nobody looked at the others.
    @Test func whenPlacesOfRemovalsGoBackEveryMembershipIsLookedAt() {
        var poll = RightsPoll(intervalMs: 500)
        check(poll.asks(nowMs: 0))
        _ = poll.took(page(removed: 100), nowMs: 0)
        check(poll.asks(nowMs: 500))
        check(poll.took(page(removed: 40), nowMs: 501).checksMemberships)
        check(poll.position.removed == 40)
        check(poll.asks(nowMs: 1_000))
        check(!poll.took(page(removed: 40), nowMs: 1_001).checksMemberships)
    }
}
