import Core
import TestSupport
import Testing

@testable import Traces

/// The verdict on facts: one test for each cause, and the order in which causes count.
@Suite struct WhyAnswerTests {
    private func facts(
        _ event: WhyFacts.Event = .logged(name: "order:ready", bytes: 20, atMs: 50_000), _ sessions: [SessionFact] = []
    ) throws -> WhyFacts {
        var facts = WhyFacts(
            user: "ann", topic: try Fixture.topic(), offset: 7, position: try Fixture.position("a:7"), event: event)
        facts.sessions = sessions
        facts.recordedSinceMs = 1_000
        return facts
    }

    private func session(
        _ fate: EventFate.Word, at subscribedMs: Int = 10_000, _ change: (inout SessionFact.Stay) -> Void = { _ in }
    ) -> SessionFact {
        var session = SessionFact(id: "node.0.1")
        var stay = SessionFact.Stay(fate: fate)
        stay.subscribedMs = subscribedMs
        change(&stay)
        session.stays = [stay]
        return session
    }

    private func expect(
        _ facts: WhyFacts, _ verdict: WhyVerdict, _ words: String..., location: SourceLocation = #_sourceLocation
    ) {
        let answer = facts.answer()
        #expect(answer.verdict == verdict, "\(answer.sentences)", sourceLocation: location)
        let text = answer.sentences.joined(separator: " ")
        for word in words { #expect(text.contains(word), "\(text)", sourceLocation: location) }
        #expect(answer.sentences.allSatisfy { !$0.isEmpty }, sourceLocation: location)
    }

    @Test func delivered() throws {
        try expect(
            facts(sessions: [session(.written)]), .delivered, "Event 7 of `shop:42`", "order:ready", "20 bytes",
            "node.0.1", "written to its connection")
        try expect(
            facts(sessions: [session(.recovered) { $0.since = "a:3" }]), .delivered, "continue from a:3")
    }

    @Test func theClientHadItBefore() throws {
        try expect(facts(sessions: [session(.had) { $0.since = "a:9" }]), .hadBefore, "a:9", "it had this event")
    }

    @Test func itWaits() throws {
        try expect(facts(sessions: [session(.waiting)]), .waiting, "waits for the client")
        try expect(facts(sessions: [session(.coming)]), .waiting, "has not come to its gateway")
    }

    @Test func neverSubscribed() throws {
        try expect(facts(sessions: [SessionFact(id: "node.0.1")]), .neverSubscribed, "none of them asked")
        try expect(facts(), .neverSubscribed, "no session since 1970-01-01T00:00:01.000Z")
        var refused = SessionFact(id: "node.0.1")
        refused.refused = [SessionFact.Refused(atMs: 1, code: "rate_limited", message: "too many joins")]
        try expect(facts(sessions: [refused]), .neverSubscribed, "rate_limited", "too many joins")
    }

    @Test func noRights() throws {
        var refused = SessionFact(id: "node.0.1")
        refused.refused = [SessionFact.Refused(atMs: 1, code: "forbidden", message: "you are no member")]
        try expect(facts(sessions: [refused]), .noRights, "forbidden", "you are no member")
        var now = try facts()
        now.rights = .refused("you are no member")
        expect(now, .noRights, "has no right to")
        try expect(
            facts(sessions: [
                session(.leftBefore) { ($0.cause, $0.message, $0.endedMs) = ("withdrawn", "you were removed", 40_000) }
            ]), .noRights, "lost the right", "you were removed", "1970-01-01T00:00:40.000Z")
    }

    @Test func joinedLater() throws {
        try expect(
            facts(sessions: [session(.joinedLater, at: 60_000) { $0.position = "a:9" }]), .joinedLater,
            "after the event", "a:9")
    }

    @Test func leftBefore() throws {
        try expect(
            facts(sessions: [session(.leftBefore) { ($0.cause, $0.endedMs) = ("left", 40_000) }]), .leftBefore,
            "left the topic")
        try expect(
            facts(sessions: [session(.leftBefore) { ($0.cause, $0.endedMs) = ("peer_gone", 40_000) }]), .leftBefore,
            "peer_gone")
    }

    @Test func conflated() throws {
        try expect(facts(sessions: [session(.conflated) { $0.fateMs = 51_000 }]), .conflated, "replaced it", "gap")
        try expect(
            facts(sessions: [session(.conflated) { $0.isSure = false }]), .conflated, "replaced events around it")
    }

    @Test func slowAndClosed() throws {
        let slow = session(.unsent) { ($0.cause, $0.endedMs) = ("slow_consumer", 52_000) }
        try expect(facts(sessions: [slow]), .slowClosed, "slow_consumer", "not written")
        let before = session(.leftBefore) { ($0.cause, $0.endedMs) = ("slow_consumer", 42_000) }
        try expect(facts(sessions: [before]), .slowClosed, "before the event", "not subscribed to the topic since")
        let later = session(.joinedLater, at: 60_000)
        try expect(facts(sessions: [before, later]), .slowClosed, "subscribed again", "without a position")
    }

    @Test func theConnectionEndedFirst() throws {
        try expect(
            facts(sessions: [session(.unsent) { ($0.cause, $0.endedMs) = ("peer_gone", 52_000) }]), .notWritten,
            "peer_gone")
    }

    @Test func gapTold() throws {
        try expect(facts(sessions: [session(.gap) { $0.fateMs = 51_000 }]), .gapTold, "received a `gap`")
        try expect(
            facts(sessions: [session(.lostAtJoin) { ($0.since, $0.position) = ("a:2", "a:9") }]), .gapTold,
            "continue from a:2", "recovered: false")
    }

    @Test func anotherEpoch() throws {
        try expect(facts(sessions: [session(.reset)]), .otherEpoch, "new epoch", "reset")
        try expect(facts(sessions: [session(.otherEpochAtJoin) { $0.since = "z:2" }]), .otherEpoch, "z:2")
        try expect(facts(sessions: [session(.otherEpoch) { $0.position = "z:2" }]), .otherEpoch, "z:2")
        try expect(facts(.otherEpoch(top: try Fixture.position("b:1"))), .otherEpoch, "has ended", "b:1")
    }

    @Test func theNodeIsGone() throws {
        var gone = try facts()
        gone.goneNodes = [WhyFacts.GoneNode(name: "old", seenMs: 55_000)]
        expect(gone, .nodeGone, "Gateway old", "does not exist any more", "not known")
        gone.goneNodes[0].listsUser = true
        expect(gone, .nodeGone, "presence still lists")
        gone.goneNodes[0].seenMs = 45_000
        expect(gone, .neverSubscribed)
        gone.sessions = [session(.joinedLater, at: 60_000)]
        expect(gone, .joinedLater)
        gone.goneNodes[0].seenMs = 55_000
        expect(gone, .nodeGone)
        gone.sessions = [session(.written)]
        expect(gone, .delivered)
    }

    @Test func theTokenWasRefused() throws {
        var ended = session(.leftBefore) { ($0.cause, $0.endedMs) = ("unauthorized", 40_000) }
        ended.tokens = [SessionFact.Token(atMs: 40_000, failure: "token_expired")]
        try expect(facts(sessions: [ended]), .tokenRefused, "the token had expired")
        ended.tokens = [SessionFact.Token(atMs: 40_000, failure: "token_revoked")]
        var revoked = try facts(sessions: [ended])
        revoked.revokedUntil = 39
        expect(revoked, .tokenRefused, "the token was revoked", "issued until 1970-01-01T00:00:39.000Z")
        var never = SessionFact(id: "node.0.1")
        never.tokens = [SessionFact.Token(atMs: 40_000, failure: "token_signature")]
        try expect(facts(sessions: [never]), .tokenRefused, "token_signature")
        var none = try facts()
        none.revokedUntil = 39
        expect(none, .tokenRefused, "tokens are revoked")
    }

    @Test func aBlockMutes() throws {
        var standIn = try facts(sessions: [session(.written)])
        standIn.blocks = WhyFacts.Blocks(blocks: ["bob"], blockedBy: ["eve"], isStandIn: true)
        expect(standIn, .mutedByBlock, "in place of a whole event", "blocks bob", "blocked by eve")
        standIn.blocks?.isStandIn = false
        expect(standIn, .delivered)
        var direct = try facts(.notReached(top: try Fixture.position("a:3")))
        direct.blocks = WhyFacts.Blocks(blocks: ["bob"], blockedBy: [], partner: "bob")
        expect(direct, .mutedByBlock, "ann and bob", "refused")
        var refused = SessionFact(id: "node.0.1")
        refused.refused = [SessionFact.Refused(atMs: 1, code: "blocked", message: "One of you blocks the other")]
        try expect(facts(sessions: [refused]), .mutedByBlock, "One of you blocks the other")
    }

    @Test func notPublished() throws {
        try expect(
            facts(.notReached(top: try Fixture.position("a:3")), [session(.coming)]), .notPublished,
            "the newest offset is 3")
        try expect(facts(.noTopic), .notPublished, "has no events")
    }

    @Test func whatIsNotKnownIsSaid() throws {
        var silent = try facts()
        silent.unanswered = ["far"]
        expect(silent, .unknown, "did not answer in time: far")
        var short = try facts()
        short.recordedSinceMs = 51_000
        expect(short, .unknown, "after the event")
        short.recordedSinceMs = nil
        expect(short, .unknown, "traceBytesMax")
        try expect(facts(sessions: [session(.unknown)]), .unknown, "does not tell")
        try expect(facts(sessions: [session(.unknown) { $0.isFollowed = true }]), .unknown, "the user's own topic")
        try expect(facts(sessions: [session(.unknown) { $0.subscribedMs = nil }]), .unknown, "before its record begins")
        try expect(facts(sessions: [session(.written) { $0.isSure = false }]), .delivered, "unless it is its own")
        var full = session(.written)
        full.isFull = true
        try expect(facts(sessions: [full]), .delivered, "not whole")
    }

    @Test func aClientThatCameBackHasMadeItsLossGood() throws {
        let slow = session(.unsent) { ($0.cause, $0.endedMs) = ("slow_consumer", 52_000) }
        let back = session(.recovered, at: 53_000)
        try expect(facts(sessions: [slow, back]), .delivered, "Before, session node.0.1 did not get it")
        // Another device does not make it good.
        try expect(facts(sessions: [slow, session(.written, at: 20_000)]), .slowClosed)
        // An earlier session that had the event does not hide that a later one lost it.
        let conflated = session(.conflated, at: 20_000) { $0.fateMs = 51_000 }
        try expect(facts(sessions: [session(.written), conflated]), .conflated)
    }

    @Test func everyVerdictHasARowInTheOperatorsPage() throws {
        let page = try ProjectFiles.text("docs/why-not.md")
        for verdict in WhyVerdict.allCases {
            #expect(page.contains("\n| `\(verdict.rawValue)` |"), "\(verdict.rawValue)")
        }
    }

    // MARK: Who may see what

    /// Sessions, revocations and blocks of a user went to every service that was bound to some topic.
    @Test func aBoundCallerLearnsNothingBeyondItsTopic() throws {
        var other = SessionFact(id: "far.0.9")
        other.refused = [SessionFact.Refused(atMs: 1, code: "blocked", message: "One of you blocks the other")]
        other.tokens = [SessionFact.Token(atMs: 40_000, failure: "token_revoked")]
        var facts = try facts(sessions: [other])
        facts.revokedUntil = 39
        facts.rights = .refused("eve blocks you")
        facts.blocks = WhyFacts.Blocks(blocks: ["bob"], blockedBy: ["eve"], partner: "eve", isStandIn: true)
        let told = facts.told(to: .topic)
        #expect(told.sessions.isEmpty && told.revokedUntil == nil && told.blocks?.partner == nil)
        let text = told.answer().sentences.joined(separator: " ")
        for secret in ["far", "eve", "bob", "revoked", "1970-01-01T00:00:39", "block"] {
            #expect(!text.contains(secret), "\(text)")
        }
        #expect(text.contains("bound to topics"))
        // The same words whether the user has sessions elsewhere or none.
        facts.sessions = []
        #expect(facts.told(to: .topic).answer().sentences.joined(separator: " ") == text)
        // A direct topic tells no block, either.
        var direct = try self.facts(.notReached(top: try Fixture.position("a:3")))
        direct.blocks = WhyFacts.Blocks(blocks: ["bob"], blockedBy: [], partner: "bob")
        expect(direct.told(to: .topic), .notPublished)
    }

    @Test func aBoundCallerStillLearnsWhatBecameOfItsSubscriptions() throws {
        var ended = session(.leftBefore) { ($0.cause, $0.endedMs) = ("slow_consumer", 40_000) }
        ended.tokens = [SessionFact.Token(atMs: 40_000, failure: "token_expired")]
        expect(try facts(sessions: [ended]).told(to: .topic), .slowClosed, "read too slowly")
        expect(try facts(sessions: [session(.written)]).told(to: .topic), .delivered)
    }

    @Test func blockersAreNamedToKeysThatReadAndWriteAlone() throws {
        var facts = try facts(sessions: [session(.written)])
        facts.blocks = WhyFacts.Blocks(blocks: ["bob"], blockedBy: ["zoe"], isStandIn: true)
        let text = facts.told(to: .withoutBlockers).answer().sentences.joined(separator: " ")
        #expect(text.contains("blocks bob") && !text.contains("zoe"))
        expect(facts.told(to: .everything), .mutedByBlock, "blocked by zoe")
    }

    private func facts(sessions: [SessionFact]) throws -> WhyFacts {
        try facts(.logged(name: "order:ready", bytes: 20, atMs: 50_000), sessions)
    }
}
