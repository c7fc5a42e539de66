import Testing

@testable import Presence

/// Which gateways live.
@Suite struct PresenceNodesTests {
    private let one = Array("one".utf8)
    private let two = Array("two".utf8)

    /// Questions are answered once a second; `one` fell silent at 10 s.
    private func nodes(until endMs: Int) -> PresenceNodes {
        var nodes = PresenceNodes(silenceMs: 5_000)
        for nowMs in stride(from: 0, through: endMs, by: 1_000) {
            nodes.answered([(one, max(0, nowMs - 10_000)), (two, 100)], nowMs: nowMs)
        }
        return nodes
    }

    @Test func aSilentNodeIsGoneAfterItsTime() {
        let early = nodes(until: 14_000)
        #expect(!early.isGone(one, nowMs: 14_000) && early.isAlive(one, nowMs: 14_000))
        let late = nodes(until: 15_000)
        #expect(late.isGone(one, nowMs: 15_000))
        #expect(!late.isGone(two, nowMs: 15_000))
    }

    @Test func aNodeOfWhichNothingIsKnownIsGone() {
        #expect(nodes(until: 6_000).isGone(Array("other".utf8), nowMs: 6_000))
    }

    /// After an outage of Redis nobody has spoken lately, and all were taken for gone.
    @Test func nobodyIsGoneRightAfterAnOutage() {
        var nodes = nodes(until: 9_000)
        nodes.failed()
        nodes.answered([(one, 60_000), (two, 60_000)], nowMs: 69_000)
        #expect(!nodes.isGone(one, nowMs: 69_000) && !nodes.isAlive(one, nowMs: 69_000))
        for nowMs in stride(from: 70_000, through: 74_000, by: 1_000) {
            nodes.answered([(one, nowMs - 9_000), (two, 10)], nowMs: nowMs)
        }
        #expect(nodes.isGone(one, nowMs: 74_000))
        #expect(!nodes.isGone(two, nowMs: 74_000))
    }

    /// A node that did not ask for long, since it had no presence, knows as little.
    @Test func whoHasNotAskedForLongWaits() {
        var nodes = nodes(until: 6_000)
        nodes.answered([(one, 20_000)], nowMs: 30_000)
        #expect(!nodes.isGone(one, nowMs: 30_000))
    }

    @Test func whoHasJustChangedSomethingLives() {
        var nodes = nodes(until: 6_000)
        let new = Array("new".utf8)
        nodes.heard(new, nowMs: 6_400)
        nodes.answered([(two, 0)], nowMs: 6_500)
        #expect(!nodes.isGone(new, nowMs: 6_500), "the question was asked before it had spoken")
        #expect(nodes.isGone(new, nowMs: 11_400))
    }

    @Test func aNodeSpeaksBeforeItWrites() {
        var nodes = PresenceNodes(silenceMs: 5_000)
        #expect(!nodes.maySpeak(nowMs: 0))
        nodes.answered([], nowMs: 10)
        #expect(nodes.maySpeak(nowMs: 2_500))
        #expect(!nodes.maySpeak(nowMs: 2_511))
        nodes.failed()
        #expect(!nodes.maySpeak(nowMs: 2_500))
    }
}
