import Core
import Reactors
import Testing

@testable import Connections

@Suite struct HandshakeQueueTests {
    @Test func aTickEndsByTimeOrByCount() {
        var queue = HandshakeQueue(stepsPerTick: 3, usPerTick: 1_000, waitingMax: 4)
        #expect([queue.take(tick: 1), queue.take(tick: 1), queue.take(tick: 1)] == [true, true, true])
        #expect(queue.take(tick: 1) == false)
        #expect(queue.take(tick: 2) == true)
        queue.spent(us: 999)
        #expect(queue.take(tick: 2) == true)
        queue.spent(us: 300)
        #expect(queue.take(tick: 2) == false)
        #expect(queue.take(tick: 3) == true)
    }

    @Test func itIsFullAtItsBoundAndEasedBelowHalf() {
        var queue = HandshakeQueue(stepsPerTick: 1, usPerTick: 1, waitingMax: 4)
        var states: [[Bool]] = []
        for _ in 0..<4 {
            queue.waits()
            states.append([queue.isFull, queue.isEased])
        }
        #expect(states == [[false, true], [false, false], [false, false], [true, false]])
        queue.stopsWaiting()
        queue.stopsWaiting()
        #expect([queue.isFull, queue.isEased] == [false, false])
        queue.stopsWaiting()
        #expect([queue.isFull, queue.isEased] == [false, true])
    }

    /// A server that takes one step a tick and has one place to wait.
    private func narrow() throws -> (Net, port: UInt16, trust: TLSContext) {
        let net = try Net {
            $0.handshakesPerTick = 1
            $0.handshakesPendingMax = 1
        }
        let certificate = try TestCertificate()
        let port = try net.listen(tls: try certificate.server(), acceptsPerTick: 2) { peer in
            peer.onReceived = { _ = $0.send($1) }
        }
        let trust = try certificate.client()
        return (net, port, trust)
    }

    /// One step a tick and one place to wait: everybody gets in all the same, and accepting stood still meanwhile.
    @Test func aHerdGetsInThoughAcceptingPauses() throws {
        let (net, port, trust) = try narrow()
        for _ in 0..<40 {
            try net.connect(port, tls: trust) { peer in peer.onOpened = { _ = $0.send([7]) } }
        }
        try net.run { net.clients.allSatisfy { $0.received == [7] } }
        #expect(net.server.statistics.acceptPauses.value > 0)
        #expect(net.server.statistics.acceptErrors.value == 0)
        #expect(net.server.statistics.handshakesWaiting.value == 0)
    }

    /// Peers that leave while they wait give their place in the row back.
    @Test func whoLeavesWaitsNoMore() throws {
        let (net, port, trust) = try narrow()
        let leavers = try (0..<20).map { _ in try net.connect(port, tls: trust) }
        let late = try net.connect(port, tls: trust) { peer in peer.onOpened = { _ = $0.send([7]) } }
        try net.run {
            if net.server.statistics.acceptPauses.value > 0 { for peer in leavers { peer.connection?.abort(.normal) } }
            return late.received == [7] && net.server.statistics.open.value == 1
        }
        #expect(net.server.statistics.handshakesWaiting.value == 0)
    }
}
