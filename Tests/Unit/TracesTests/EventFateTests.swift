import Core
import Testing

@testable import Traces

/// The fate of one event, from the entries of a session and its state at the question.
@Suite struct EventFateTests {
    private let recorder = Recorder()

    /// A subscription in epoch `a`, with these entries behind it.
    private func stay(
        at position: String = "a:5", since: String? = nil, isRecovered: Bool = false,
        _ changes: (Topic) throws -> [TraceEntry.Change] = { _ in [] }
    ) throws -> TopicStay {
        let topic = try Fixture.topic()
        let session = recorder.open("ann")
        let since = try since.map { try Fixture.position($0) }
        recorder.note(
            .subscribed(
                topic, at: try Fixture.position(position), since: since, isRecovered: isRecovered, isFollowed: false),
            of: session)
        for change in try changes(topic) {
            if case .gap(let topic, let from, let to, let isReset) = change {
                recorder.trace.gap(topic, from: from, to: to, isReset: isReset)
            } else if case .closed(let reason) = change {
                recorder.end(session, reason)
            } else {
                recorder.note(change, of: session)
            }
        }
        let told = recorder.sessions(of: "ann", on: topic, limit: 1)
        return try #require(told.first?.stays.last)
    }

    private func live(_ stay: TopicStay, handed: String, waiting: String? = nil) throws -> TopicStay {
        var stay = stay
        stay.now = TopicStay.Standing(
            handed: try Fixture.position(handed), waiting: try waiting.map { try Fixture.position($0) })
        return stay
    }

    private func fate(_ stay: TopicStay, _ event: String) throws -> EventFate {
        stay.fate(of: try Fixture.position(event))
    }

    @Test func anEventBehindThePositionWasWrittenOnceItIsHandedAndNothingWaits() throws {
        let stay = try live(try stay(), handed: "a:9")
        #expect(try fate(stay, "a:6") == .written && fate(stay, "a:9") == .written)
        #expect(try fate(stay, "a:10") == .coming)
        #expect(try fate(stay, "a:5") == .joinedLater)
        #expect(try fate(stay, "b:6") == .otherEpoch(Fixture.position("a:5")))
    }

    @Test func anEventWaitsFromTheFirstOneInTheQueueOn() throws {
        let stay = try live(try stay(), handed: "a:9", waiting: "a:8")
        #expect(try fate(stay, "a:7") == .written)
        #expect(try fate(stay, "a:8") == .waiting && fate(stay, "a:9") == .waiting)
        #expect(try fate(stay, "a:10") == .coming)
    }

    @Test func aPositionBringsWhatTheLogHas() throws {
        let recovered = try live(try stay(at: "a:5", since: "a:2", isRecovered: true), handed: "a:5")
        #expect(try fate(recovered, "a:3") == .recovered && fate(recovered, "a:5") == .recovered)
        #expect(try fate(recovered, "a:2") == .had(Fixture.position("a:2")))
        let lost = try live(try stay(at: "a:5", since: "a:2"), handed: "a:5")
        #expect(try fate(lost, "a:3") == .lostAtJoin(Fixture.position("a:2")))
        let other = try live(try stay(at: "b:5", since: "a:2"), handed: "b:5")
        #expect(try fate(other, "b:3") == .otherEpochAtJoin(Fixture.position("a:2")))
        let waiting = try live(
            try stay(at: "a:5", since: "a:2", isRecovered: true), handed: "a:5", waiting: "a:4")
        #expect(try fate(waiting, "a:3") == .recovered && fate(waiting, "a:4") == .waiting)
    }

    @Test func replacedEventsAreNamed() throws {
        let stay = try live(
            try stay { [.conflated($0, epoch: Fixture.bytes("a"), [6...7, 9...12], isWhole: false)] }, handed: "a:12")
        #expect(try fate(stay, "a:6") == .conflated(atMs: 1_000, isSure: true))
        #expect(try fate(stay, "a:8") == .written)
        #expect(try fate(stay, "a:12") == .conflated(atMs: 1_000, isSure: false))
    }

    @Test func aGapForAllMembersCoversWhatTheLogHadLost() throws {
        let stay = try live(
            try stay {
                [.gap($0, from: try Fixture.position("a:6"), to: try Fixture.position("a:8"), isReset: false)]
            }, handed: "a:9")
        #expect(try fate(stay, "a:6") == .written && fate(stay, "a:9") == .written)
        #expect(try fate(stay, "a:7").word == .gap && fate(stay, "a:8").word == .gap)
    }

    @Test func aNewEpochBeginsAtItsStart() throws {
        let stay = try live(
            try stay {
                [.gap($0, from: try Fixture.position("a:6"), to: try Fixture.position("b:0"), isReset: true)]
            }, handed: "b:3")
        #expect(try fate(stay, "b:1") == .written && fate(stay, "b:3") == .written && fate(stay, "b:4") == .coming)
        #expect(try fate(stay, "a:7").word == .reset)
        #expect(try fate(stay, "c:1") == .otherEpoch(Fixture.position("a:5")))
    }

    @Test func theEndTellsHowFarItCame() throws {
        let left = try stay { [.left($0, handed: try Fixture.position("a:7"))] }
        #expect(left.end?.cause == .left)
        #expect(try fate(left, "a:7") == .written && fate(left, "a:8") == .leftBefore)
        let slow = try stay {
            [
                .unsent($0, try Fixture.position("a:7")), .closed(.slowConsumer),
                .left($0, handed: try Fixture.position("a:8")),
            ]
        }
        #expect(slow.end?.cause == .closed(.slowConsumer))
        #expect(try fate(slow, "a:6") == .written && fate(slow, "a:7") == .unsent && fate(slow, "a:8") == .unsent)
        #expect(try fate(slow, "a:9") == .leftBefore)
        let withdrawn = try stay {
            [
                .withdrawn($0, code: Fixture.bytes("forbidden"), message: Fixture.bytes("removed")),
                .left($0, handed: try Fixture.position("a:7")),
            ]
        }
        #expect(withdrawn.end?.cause == .withdrawn(code: "forbidden", message: "removed"))
    }

    /// An event before a reset was said to be of another epoch.
    @Test func anEventBeforeANewEpochWasWritten() throws {
        func reset(_ topic: Topic) throws -> TraceEntry.Change {
            .gap(topic, from: try Fixture.position("a:6"), to: try Fixture.position("b:0"), isReset: true)
        }
        let stay = try live(try stay { [try reset($0)] }, handed: "b:3")
        #expect(try fate(stay, "a:6") == .written && fate(stay, "a:5") == .joinedLater)
        let left = try self.stay { [try reset($0), .left($0, handed: try Fixture.position("b:2"))] }
        #expect(try fate(left, "a:6") == .written && fate(left, "b:2") == .written && fate(left, "b:3") == .leftBefore)
        // An event of the old epoch that waits holds up the new one.
        let waiting = try live(try self.stay { [try reset($0)] }, handed: "b:3", waiting: "a:6")
        #expect(try fate(waiting, "a:6") == .waiting && fate(waiting, "b:2") == .waiting)
    }

    // MARK: The fate for a session

    private func fate(
        _ stay: TopicStay, isRecent: Bool = false, _ change: (inout TracedSession) -> Void = { _ in }
    ) throws -> EventFate {
        var session = TracedSession(number: 1)
        change(&session)
        return session.fate(of: TracedPosition(try Fixture.position("a:7"), isRecent: isRecent), on: stay)
    }

    /// An event of last year counted as delivered to every client that was there for more than an hour.
    @Test func aSubscriptionOlderThanTheRecordGotWhatWasPublishedSince() throws {
        let stay = try live(TopicStay(topic: try Fixture.topic()), handed: "a:9")
        #expect(try fate(stay) == .unknown && fate(stay, isRecent: true) == .written)
        let other = try live(TopicStay(topic: try Fixture.topic()), handed: "b:9")
        #expect(try fate(other) == .unknown)
        #expect(try fate(TopicStay(topic: try Fixture.topic()), isRecent: true) == .unknown)
    }

    /// The changes that would say otherwise may be among those that were not kept.
    @Test func aSessionWithoutAWholeRecordIsNotSaidToHaveGotAnEvent() throws {
        let stay = try live(try stay(), handed: "a:9")
        #expect(try fate(stay) == .written && fate(stay) { $0.isFull = true } == .unknown)
    }

    /// Events of a followed topic go out without a position, and counted as written while they waited.
    @Test func anEventOfAFollowedTopicIsNotSaidToBeWritten() throws {
        var followed = try live(try stay(), handed: "a:9")
        followed.isFollowed = true
        #expect(try fate(followed) == .unknown)
        var session = TracedSession(number: 1)
        let standing = TopicStay.Standing(handed: try Fixture.position("a:9"), waiting: nil, isFollowed: true)
        session.stands(standing, on: try Fixture.topic(), gaps: [])
        #expect(try fate(try #require(session.stays.first), isRecent: true) == .unknown)
    }

    /// A session's own events are not sent back to it when it asks for that, and counted as written.
    @Test func theEventsOfASessionThatLeavesOutItsOwnAreNotSure() throws {
        var session = TracedSession(number: 1)
        #expect(session.isSure(.written))
        session.isExcluding = true
        #expect(!session.isSure(.written) && session.isSure(.recovered) && session.isSure(.waiting))
    }

    /// The state was read before the session ended.
    @Test func anEndedSubscriptionStandsNoMore() throws {
        var session = TracedSession(number: 1)
        session.stays = [try stay { [.left($0, handed: try Fixture.position("a:6"))] }]
        let standing = TopicStay.Standing(handed: try Fixture.position("a:5"), waiting: nil)
        session.stands(standing, on: try Fixture.topic(), gaps: [])
        #expect(session.stays.count == 1 && session.stays[0].now == nil)
    }
}
