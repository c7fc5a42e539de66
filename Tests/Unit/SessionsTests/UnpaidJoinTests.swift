import Core
import Dialects
import Rights
import TestSupport
import Testing

@testable import Sessions

/// What becomes of a topic that a client asks for again and cannot pay for.
@Suite struct UnpaidJoinTests {
    private let topic: Topic
    private let ref: Reference
    private let budget = TestBudget()
    private let rules: SessionRules
    private static let refusal = Refusal(.rateLimited, "unpaid", retryAfterMs: 100)

    init() throws {
        topic = try #require(Topic("shop:1"))
        ref = try #require(Reference(Array("9".utf8)))
        rules = SessionRules(limits: Limits(), access: try AccessPolicy(StandardTables.namespaces), budget: budget)
    }

    private func subscribe(_ state: inout SessionState, ref: Reference? = nil) -> [SessionAction] {
        let request = ClientRequest(command: .subscribe([SubscribeRequest(topic: topic, since: nil)]), ref: ref)
        return state.take(.message(.success(request)), nowMs: 1)
    }

    /// The actions but those for the record.
    private func acts(_ actions: [SessionAction]) -> Int {
        actions.count { if case .note = $0 { false } else { true } }
    }

    private func refusals(_ actions: [SessionAction]) -> [Reference?] {
        actions.compactMap { action in
            guard case .send(.error("rate_limited", _, topic, 100), let ref) = action else { return nil }
            return .some(ref)
        }
    }

    /// A second subscribe that could not be paid ended the first one: the client was told `unsubscribed`.
    @Test func whatLivesIsNotLeftForAJoinThatCannotBePaid() {
        var state = SessionState(rules, caller: .anonymous, address: nil, nowMs: 0)
        #expect(subscribe(&state).contains { if case .join = $0 { true } else { false } })
        _ = state.take(.joined(topic), nowMs: 1)
        budget.refusal = UnpaidJoinTests.refusal
        let actions = subscribe(&state, ref: ref)
        #expect(acts(actions) == 1 && refusals(actions) == [ref], "\(actions)")
        #expect(state.holdings.map(\.topic) == [topic] && state.holdings.allSatisfy(\.isLive))
    }

    /// The join on its way was told to have ended, and came all the same.
    @Test func whatIsOnItsWayGoesOn() {
        var state = SessionState(rules, caller: .anonymous, address: nil, nowMs: 0)
        _ = subscribe(&state)
        _ = state.take(.joined(topic), nowMs: 1)
        _ = subscribe(&state)
        budget.refusal = UnpaidJoinTests.refusal
        let actions = subscribe(&state, ref: ref)
        #expect(acts(actions) == 1 && refusals(actions) == [ref], "\(actions)")
        #expect(state.holdings.count == 1 && state.holdings.allSatisfy { $0.waits(.topic) })
    }

    @Test func aNewTopicThatCannotBePaidIsNotHeld() {
        var state = SessionState(rules, caller: .anonymous, address: nil, nowMs: 0)
        budget.refusal = UnpaidJoinTests.refusal
        let actions = subscribe(&state, ref: ref)
        #expect(acts(actions) == 1 && refusals(actions) == [ref], "\(actions)")
        #expect(state.holdings.isEmpty && !state.isEstablished)
    }
}
