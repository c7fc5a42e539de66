import Configuration
import Core
import Service
import Testing

@testable import Operations

/// Which ends of clients are told, and how many lines.
@Suite struct ClientLogTests {
    @Test func usualEndsAreNoTrouble() {
        let usual: [CloseReason] = [.normal, .restart, .goingAway, .httpDone, .httpRefused]
        for reason in usual { #expect(ClientTrouble(ending: reason) == nil) }
        #expect(ClientTrouble(ending: .peerGone) == .gone && ClientTrouble.gone.level == .debug)
        #expect(ClientTrouble(ending: .slowConsumer) == .slow)
        let others = CloseReason.allCases.filter { !usual.contains($0) && $0 != .peerGone && $0 != .slowConsumer }
        for reason in others { #expect(ClientTrouble(ending: reason) == .ended) }
    }

    @Test func aSecondHasItsLinesAndTheRestIsCounted() {
        var sampler = LineSampler(perSecond: 2)
        let first = (0..<5).map { sampler.take(nowMs: 1_000 + $0) }
        #expect(first == [0, 0, nil, nil, nil])
        #expect(sampler.takeLeftOut(nowMs: 1_999) == nil)
        // The next line tells of them, once.
        let second = (0..<2).map { _ in sampler.take(nowMs: 2_000) }
        #expect(second == [3, 0] && sampler.takeLeftOut(nowMs: 9_000) == nil)
    }

    @Test func whatNoLaterLineTellsIsTold() {
        var sampler = LineSampler(perSecond: 1)
        _ = sampler.take(nowMs: 0)
        _ = sampler.take(nowMs: 10)
        #expect(sampler.takeLeftOut(nowMs: 1_000) == 1 && sampler.takeLeftOut(nowMs: 2_000) == nil)
        #expect(sampler.take(nowMs: 2_000) == 0)
    }

    @Test func textsOfClientsAreBounded() {
        #expect(ClientLog.text([UInt8](repeating: 65, count: 1_000)).utf8.count == 256)
    }
}
