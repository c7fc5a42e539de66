import Core
import Testing

@testable import Traces

/// A session crosses nodes as JSON, and its facts are read from that.
@Suite struct SessionRowTests {
    @Test func whatANodeTellsIsWhatTheAskerReads() throws {
        let recorder = Recorder()
        let topic = try Fixture.topic()
        let session = recorder.open("ann")
        recorder.note(
            .refused(topic, code: Fixture.bytes("forbidden"), message: Fixture.bytes("a \"no\"")), of: session)
        recorder.nowMs += 1
        recorder.note(
            .subscribed(
                topic, at: try Fixture.position("a:5"), since: try Fixture.position("a:2"), isRecovered: false,
                isFollowed: false), of: session)
        recorder.note(.token(Fixture.bytes("token_expired")), of: session)
        recorder.end(session, .unauthorized)
        recorder.note(.left(topic, handed: try Fixture.position("a:6")), of: session)
        let told = try #require(recorder.sessions(of: "ann", on: topic, limit: 1).first)
        let row = SessionRow.text(
            told, id: Fixture.bytes("node.0.1"), node: Fixture.bytes("node"),
            about: TracedPosition(try Fixture.position("a:3"), isRecent: false)
        ) { $0 + 10_000 }
        let json = try JSON(parsing: row, limits: JSON.Limits(depthMax: 8, elementsMax: 1_000))
        let fact = try #require(SessionFact(json.root))
        #expect(fact.id == "node.0.1" && fact.node == "node" && fact.openedMs == 11_000 && fact.closedMs == 11_001)
        #expect(fact.reason == "unauthorized" && !fact.isFull)
        #expect(fact.refused == [SessionFact.Refused(atMs: 11_000, code: "forbidden", message: "a \"no\"")])
        #expect(fact.tokens == [SessionFact.Token(atMs: 11_001, failure: "token_expired")])
        let stay = try #require(fact.stays.first)
        #expect(stay.fate == .lostAtJoin && stay.position == "a:5" && stay.since == "a:2")
        #expect(stay.cause == "unauthorized" && stay.endedMs == 11_001 && stay.subscribedMs == 11_001)
        #expect(json.root["user"]?.string == "ann" && json.root["address"]?.string == "192.0.2.1")
    }

    @Test func aRowIsBoundedHoweverMuchASessionDid() throws {
        let recorder = Recorder()
        let topic = try Fixture.topic()
        let session = recorder.open("ann")
        for _ in 0..<120 {
            recorder.note(
                .subscribed(
                    topic, at: try Fixture.position("a:5"), since: nil, isRecovered: false, isFollowed: false),
                of: session)
            recorder.note(.left(topic, handed: nil), of: session)
        }
        let told = recorder.sessions(of: "ann", on: topic, limit: 4)
        let row = SessionRow.text(try #require(told.first), id: [], node: [], about: nil) { $0 }
        #expect(row.count < 4_096)
    }

    /// A service that is bound to a topic reads another user's address, tokens and refusals by asking about its topic.
    @Test func aBoundCallerSeesSubscriptionsAlone() throws {
        let text =
            #"{"id":"n.0.1","user":"ann","key":null,"node":"n","address":"192.0.2.1","dialect":"native","since":null,"#
            + #""closed":"2026-11-26T16:40:14.020Z","why":"unauthorized","subscriptions":[{"topic":"shop:42","#
            + #""fate":"written","position":"a:5","cause":"withdrawn","message":"eve blocks you"}],"#
            + #""refused":[{"at":"2026-11-26T16:40:14.020Z","code":"forbidden","message":"no"}],"#
            + #""tokens":[{"at":"2026-11-26T16:40:14.020Z","failure":"token_revoked"}]}"#
        let json = try JSON(parsing: Array(text.utf8), limits: JSON.Limits(depthMax: 8, elementsMax: 100))
        let fact = try #require(SessionFact(json.root))
        let part = try #require(fact.ofTopic)
        #expect(part.tokens.isEmpty && part.refused.isEmpty && part.reason == nil && part.closedMs == nil)
        #expect(part.stays.map(\.fate) == [.written] && part.stays.first?.message == nil)
        let row = String(decoding: SessionRow.text(ofTopic: part), as: UTF8.self)
        for secret in ["192.0.2.1", "revoked", "forbidden", "eve", "unauthorized", "native"] {
            #expect(!row.contains(secret), "\(row)")
        }
        #expect(row.contains("\"user\":\"ann\"") && row.contains("\"fate\":\"written\""))
        #expect(SessionFact(id: "n.0.2").ofTopic == nil)
    }

    @Test func countsOfFatesAreAddedUp() throws {
        var counts: [EventFate.Word: Int] = [.written: 3]
        let text = String(decoding: FateCounts.text([.written: 2, .gap: 1, .waiting: 0]), as: UTF8.self)
        #expect(text == #"{"written":2,"gap":1}"#)
        for text in [text, #"{"gap":-4,"written":9223372036854775807,"more":2,"waiting":"x"}"#] {
            let json = try JSON(parsing: Array(text.utf8), limits: JSON.Limits(depthMax: 8, elementsMax: 100))
            FateCounts.add(json.root, to: &counts)
        }
        #expect(counts == [.written: Int.max, .gap: 1])
    }

    @Test func otherJSONIsNoFact() throws {
        for text in ["{}", "[]", "1", #"{"id":7,"subscriptions":[]}"#, #"{"id":"a.0.1"}"#] {
            let json = try JSON(parsing: Array(text.utf8), limits: JSON.Limits(depthMax: 8, elementsMax: 100))
            #expect(SessionFact(json.root) == nil)
        }
    }
}
