import Core
import Dialects
import Rights
import Testing

@testable import Sessions

/// What a session lets its client know and say about who is here.
@Suite struct SessionPresenceTests {
    private let room: Topic
    private let id = PresenceID(node: [UInt8(ascii: "n")], shard: 0, number: 1)

    init() throws {
        room = try #require(Topic("room:1"))
    }

    private func user(_ name: String, role: Identity.Role = .user) throws -> Caller {
        .user(try #require(Identity(user: Array(name.utf8), role: role, topics: nil, expiresAt: Int.max / 2_000)))
    }

    private func rules(
        publish: NamespacePolicy.Rule = .user, presence: Bool = true, waitMs: Int? = nil
    ) throws -> SessionRules {
        let policy = NamespacePolicy(
            subscribe: .anyone, publish: publish, logEventsMax: 1, logSeconds: 1, slow: .disconnect, presence: presence)
        var limits = Limits()
        limits.presenceTopicsMax = 2
        limits.presenceMetaBytesMax = 20
        let budget = TestBudget()
        budget.publishWaitMs = waitMs
        return SessionRules(limits: limits, access: try AccessPolicy(["room": policy]), budget: budget)
    }

    /// A session that is live on the topic.
    private func session(_ rules: SessionRules, _ caller: Caller, presence: Bool = true) -> SessionState {
        var state = SessionState(rules, caller: caller, address: nil, nowMs: 0)
        _ = join(&state, room, presence: presence)
        return state
    }

    private func join(_ state: inout SessionState, _ topic: Topic, presence: Bool = false) -> [SessionAction] {
        let command = ClientCommand.subscribe([SubscribeRequest(topic: topic, since: nil, presence: presence)])
        _ = ask(&state, command)
        return state.take(.joined(topic), nowMs: 1)
    }

    private func ask(_ state: inout SessionState, _ command: ClientCommand) -> [SessionAction] {
        state.take(.message(.success(ClientRequest(command: command, ref: nil))), nowMs: 1)
    }

    private func track(_ state: inout SessionState, _ topic: Topic? = nil, meta: String = "{}") -> [SessionAction] {
        ask(&state, .track(TrackRequest(topic: topic ?? room, key: .user, meta: Array(meta.utf8))))
    }

    /// The codes of the errors among the actions.
    private func errors(_ actions: [SessionAction]) -> [String] {
        actions.compactMap { if case .send(.error(let code, _, _, _), _) = $0 { code } else { nil } }
    }

    private func watches(_ actions: [SessionAction]) -> Bool {
        actions.contains { if case .watch(room) = $0 { true } else { false } }
    }

    private func users(_ actions: [SessionAction]) -> [[UInt8]?] {
        actions.compactMap { if case .track(_, let user, _, _) = $0 { .some(user) } else { nil } }
    }

    @Test func onlyWhoAsksIsToldWhoIsHere() throws {
        for (presence, told) in [(true, true), (false, false)] {
            var state = SessionState(try rules(), caller: .anonymous, address: nil, nowMs: 0)
            #expect(watches(join(&state, room, presence: presence)) == told)
        }
        var state = SessionState(try rules(presence: false), caller: .anonymous, address: nil, nowMs: 0)
        let actions = join(&state, room, presence: true)
        #expect(!watches(actions))
        #expect(actions.contains { if case .send(.presence(room, nil), nil) = $0 { true } else { false } })
    }

    @Test func theUserIsThatOfTheToken() throws {
        var state = session(try rules(), try user("u1"), presence: false)
        let actions = track(&state)
        #expect(users(actions) == [Array("u1".utf8)])
        #expect(watches(actions), "who is listed is told of the others")
        var anonymous = session(try rules(publish: .anyone), .anonymous)
        #expect(users(track(&anonymous)) == [nil])
    }

    @Test func whoMayNotBeListed() throws {
        var anonymous = session(try rules(), .anonymous)
        #expect(errors(track(&anonymous)) == ["unauthorized"])
        var none = session(try rules(presence: false), try user("u1"))
        #expect(errors(track(&none)) == ["not_found"])
        var outside = SessionState(try rules(), caller: try user("u1"), address: nil, nowMs: 0)
        #expect(errors(track(&outside)) == ["conflict"])
        var large = session(try rules(), try user("u1"))
        #expect(errors(track(&large, meta: "{\"a\":\"0123456789abc\"}")) == ["too_large"])
        var busy = session(try rules(waitMs: 70), try user("u1"))
        #expect(errors(track(&busy)) == ["rate_limited"])
    }

    @Test func aSessionIsListedOnSoManyTopics() throws {
        var state = session(try rules(), try user("u1"))
        let others = try (2...3).map { try #require(Topic("room:\($0)")) }
        for topic in others { _ = join(&state, topic) }
        #expect(users(track(&state)).count == 1 && users(track(&state, others[0])).count == 1)
        #expect(errors(track(&state, others[1])) == ["too_large"])
        #expect(users(track(&state)).count == 1, "what is listed already may be said anew")
        _ = ask(&state, .untrack(room))
        #expect(users(track(&state, others[1])).count == 1)
        // One that Redis did not take does not count.
        _ = state.take(.tracked(others[1], .failure(Refusal(.tooLarge, "")), isNew: true, ref: nil), nowMs: 1)
        #expect(users(track(&state)).count == 1)
    }

    @Test func whoLeavesIsListedNoMore() throws {
        var state = session(try rules(), try user("u1"))
        _ = track(&state)
        _ = ask(&state, .unsubscribe([room]))
        #expect(errors(track(&state)) == ["conflict"])
        _ = join(&state, room)
        let actions = ask(&state, .untrack(room))
        #expect(actions.count == 1 && !errors(actions).contains("conflict"), "it is not listed, which is no mistake")
        #expect(!actions.contains { if case .untrack = $0 { true } else { false } })
    }

    @Test func theAnswerNamesTheEntry() throws {
        var state = session(try rules(), try user("u1"))
        let actions = state.take(.tracked(room, .success(id), isNew: true, ref: nil), nowMs: 1)
        let answer = Array("{\"id\":\"n.0.1\"}".utf8)
        #expect(actions.contains { if case .send(.ack(answer), nil) = $0 { true } else { false } })
    }
}
