import Core
import Reactors
import Testing

@testable import Connections

/// Peers that do not read, do not speak, or do not end.
@Suite struct SlowPeerTests {
    static let frame = Array(repeating: UInt8(7), count: 10_000)

    /// Sends until the kernel takes no more and the queue's bound is reached.
    static func fill(_ connection: Connection) -> Int {
        var sent = 0
        while connection.send(frame) { sent += 1 }
        return sent
    }

    @Test(arguments: [false, true])
    func aFullQueueRefusesAndTheReasonStillArrives(_ isSecure: Bool) throws {
        let net = try Net { $0.outboundBytesMax = 100_000 }
        let contexts = try ConnectionTests.contexts(isSecure)
        let last = Array("slow".utf8)
        var ticksFull = 0
        let port = try net.listen(tls: contexts?.server)
        let client = try net.connect(port, tls: contexts?.client) { peer in
            peer.onOpened = { $0.pauseReading() }
        }
        let wake = net.wake
        try net.run {
            wake.signal()
            guard let peer = net.peers.first, let connection = peer.connection else { return false }
            if connection.isOpen {
                ticksFull = SlowPeerTests.fill(connection) == 0 ? ticksFull + 1 : 0
                #expect(connection.queuedBytes <= 100_000)
                guard ticksFull > 50 else { return false }
                connection.close(.slowConsumer, last: last, discarding: true)
                client.connection?.resumeReading()
            }
            return client.reason != nil
        }
        #expect(net.peers.first?.reason == .slowConsumer)
        #expect(Array(client.received.suffix(4)) == last)
        #expect((client.received.count - 4) % SlowPeerTests.frame.count == 0, "a frame was cut")
        #expect(client.received.dropLast(4).allSatisfy { $0 == 7 })
        #expect(net.server.statistics.queuedBytes.value == 0)
    }

    @Test func anOwedFrameIsTakenBeyondTheBoundAndDoesNotCountAgainstIt() throws {
        let net = try Net { $0.outboundBytesMax = 100 }
        let port = try net.listen { peer in
            peer.onOpened = { connection in
                #expect(connection.send(Array(repeating: 1, count: 60)))
                #expect(connection.send(Array(repeating: 2, count: 500), item: nil, isBacklog: true))
                #expect(connection.unowedBytes == 60 && connection.queuedBytes == 560)
                #expect(connection.send(Array(repeating: 3, count: 40)))
                #expect(!connection.send([4]))
            }
        }
        let client = try net.connect(port)
        try net.run { client.received.count == 600 }
    }

    /// Queues what goes beyond 10,000 bytes with the last frame of the third connection.
    static func overfill(_ large: Connection, _ small: Connection, _ last: Connection, _ counts: OutboundCounts) {
        let item = OutboundItem(counts: counts)
        for _ in 0..<8 { #expect(large.send(Array(repeating: 1, count: 1_000), item: item)) }
        for size in [500, 500, 500, 400] { #expect(small.send(Array(repeating: 2, count: size))) }
        #expect(last.send(Array(repeating: 3, count: 90)), "the first frame is always taken")
        #expect(large.isOpen)
        #expect(last.send(Array(repeating: 4, count: 90)), "a small queue is not the victim")
        #expect(!large.isOpen)
        #expect(small.isOpen)
        #expect(last.isOpen)
    }

    /// The bound of all connections together: the largest queue gives way, not whoever is sent the next frame.
    @Test func theLargestQueueGivesWayWhenAllTogetherAreTooMany() throws {
        let net = try Net { $0.outboundTotalBytesMax = 10_000 }
        let counts = OutboundCounts()
        var isFilled = false
        let port = try net.listen()
        let clients = try (0..<3).map { _ in try net.connect(port) }
        let wake = net.wake
        try net.run {
            wake.signal()
            let connections = net.peers.compactMap(\.connection)
            if !isFilled && connections.count == 3 {
                isFilled = true
                SlowPeerTests.overfill(connections[0], connections[1], connections[2], counts)
                #expect(net.server.statistics.queuedBytes.value <= 7_500)
            }
            return isFilled && clients[1].received.count == 1_900 && clients[2].received.count == 180
        }
        #expect(net.peers.first?.reason == .slowConsumer)
        #expect([counts.droppedSlow, counts.droppedGone, counts.written, counts.waiting] == [8, 0, 0, 0])
        #expect(net.server.statistics.itemsDropped.value == 8)
    }

    /// A handler that thins keeps its connection, at the bound in bytes and when all together are too many.
    @Test(arguments: [OutboundBound.bytes, .total])
    func aThinnedConnectionLives(_ wanted: OutboundBound) throws {
        let net = try Net {
            if wanted == .bytes { $0.outboundBytesMax = 1_000 } else { $0.outboundTotalBytesMax = 1_000 }
        }
        let counts = OutboundCounts()
        var bounds: [OutboundBound] = []
        let port = try net.listen { peer in
            peer.onTooSlow = { connection, bound in
                bounds.append(bound)
                var fates = connection.waitingFrames().map { _ in FrameFate.conflate }
                fates[fates.count - 1] = .keep
                connection.thin(fates)
                return true
            }
            peer.onOpened = { connection in
                let item = OutboundItem(counts: counts)
                for byte in 0..<15 { #expect(connection.send(Array(repeating: UInt8(byte), count: 100), item: item)) }
            }
        }
        let client = try net.connect(port)
        try net.run { client.received.last == 14 }
        #expect(bounds == [wanted])
        #expect(client.received.count == 600 && client.received.first == 9)
        #expect(
            [counts.written, counts.conflated, counts.droppedSlow + counts.droppedGone, counts.waiting] == [6, 9, 0, 0])
        #expect(net.server.statistics.itemsConflated.value == 9 && net.server.statistics.itemsWritten.value == 6)
    }

    /// A handler may thin as often as it likes: a peer that takes no byte for twice the age is closed.
    @Test func aPeerThatTakesNothingIsClosedThoughItsQueueIsThinned() throws {
        var bounds: [OutboundBound] = []
        var isFull = false
        let net = try Net {
            $0.outboundBytesMax = 1 << 20
            $0.outboundAgeMs = 500
            $0.closeMs = 50
        }
        let port = try net.listen { peer in
            peer.onTooSlow = { _, bound in
                if bound != .bytes { bounds.append(bound) }
                return bound != .bytes
            }
        }
        try net.connect(port) { peer in peer.onOpened = { $0.pauseReading() } }
        let wake = net.wake
        var ticksFull = 0
        try net.run {
            guard let connection = net.peers.first?.connection else { return false }
            if connection.isOpen, !isFull {
                wake.signal()
                ticksFull = SlowPeerTests.fill(connection) == 0 ? ticksFull + 1 : 0
                isFull = ticksFull > 50
            }
            return net.server.statistics.open.value == 0
        }
        #expect(net.peers.first?.reason == .slowConsumer)
        #expect(bounds.last == .stuck)
        #expect(bounds.dropLast().allSatisfy { $0 == .age } && bounds.count > 1)
    }

    @Test func oneFrameLargerThanTheBoundFitsAnEmptyQueue() throws {
        let net = try Net { $0.outboundBytesMax = 100 }
        let port = try net.listen { peer in
            peer.onOpened = { connection in
                #expect(connection.send(Array(repeating: 1, count: 1_000)))
                #expect(!connection.send([2]))
            }
        }
        let client = try net.connect(port)
        try net.run { client.received.count == 1_000 }
    }

    /// A client that has stopped reading for good: filled up to the kernel's and our bound.
    static func stuck(
        _ change: @escaping (inout ConnectionLimits) -> Void, onFull: @escaping (Connection) -> Void = { _ in }
    ) throws -> Net {
        let net = try Net { limits in
            limits.outboundBytesMax = 1 << 20
            change(&limits)
        }
        let port = try net.listen()
        try net.connect(port) { peer in peer.onOpened = { $0.pauseReading() } }
        let wake = net.wake
        var ticksFull = 0
        try net.run {
            guard let peer = net.peers.first, let connection = peer.connection else { return false }
            if connection.isOpen, ticksFull <= 50 {
                wake.signal()
                ticksFull = SlowPeerTests.fill(connection) == 0 ? ticksFull + 1 : 0
                if ticksFull > 50 { onFull(connection) }
            }
            return net.server.statistics.open.value == 0
        }
        return net
    }

    @Test func bytesThatWaitTooLongEndTheConnection() throws {
        let net = try SlowPeerTests.stuck {
            $0.outboundAgeMs = 200
            $0.closeMs = 50
        }
        #expect(net.peers.first?.reason == .slowConsumer)
        #expect(net.server.statistics.queuedBytes.value == 0)
    }

    /// A deadline of the handler that fell due while the connection was closing used to cancel the closing's own
    /// deadline when old bytes were waiting: the connection then stayed for as long as its peer did.
    @Test func aDeadlineOfTheHandlerDoesNotKeepAClosingConnection() throws {
        let net = try SlowPeerTests.stuck {
            $0.outboundAgeMs = 200
            $0.closeMs = 100
        } onFull: { connection in
            connection.setDeadline(at: Clock.monotonicMs() + 230)
        }
        #expect(net.peers.first?.reason == .slowConsumer)
        #expect(net.peers.first?.deadlines == 0)
    }

    @Test func aHandshakeThatDoesNotComeIsEnded() throws {
        let net = try Net { $0.handshakeMs = 50 }
        let contexts = try ConnectionTests.contexts(true)
        let port = try net.listen(tls: contexts?.server)
        let client = try BlockingClient(port, wake: net.wake) { BlockingClient.receiveAll($0) }
        try net.run { client.isDone }
        #expect(net.peers.first?.reason == .timeout)
        #expect(net.peers.first?.openings == 0)
        #expect(net.gate.now.released.count == 1)
    }

    @Test func aProxyHeaderThatDoesNotComeIsEnded() throws {
        let net = try Net { $0.handshakeMs = 50 }
        let port = try net.listen(expectsProxyHeader: true)
        let client = try BlockingClient(port, wake: net.wake) { descriptor in
            BlockingClient.send(descriptor, Array("PROXY TC".utf8))
            return BlockingClient.receiveAll(descriptor)
        }
        try net.run { client.isDone }
        #expect(net.peers.first?.reason == .timeout)
        #expect(net.gate.now.admitted.isEmpty && net.gate.now.released.isEmpty)
    }

    @Test func theHandlersDeadlineComesOnceAndMayBeSetAgain() throws {
        let net = try Net()
        let port = try net.listen { peer in
            peer.onOpened = { $0.setDeadline(at: Clock.monotonicMs() + 10) }
            peer.onDeadline = { connection in
                if peer.deadlines < 3 {
                    connection.setDeadline(at: Clock.monotonicMs() + 10)
                } else {
                    connection.close(.timeout)
                }
            }
        }
        let client = try net.connect(port)
        try net.run { client.reason != nil }
        #expect(net.peers.first?.deadlines == 3)
        #expect(net.peers.first?.reason == .timeout)
    }

    @Test(arguments: [false, true])
    func pausedReadingHoldsBytesBackAndLosesNone(_ isSecure: Bool) throws {
        let net = try Net()
        let contexts = try ConnectionTests.contexts(isSecure)
        let bytes = ConnectionTests.pattern(300_000)
        var isPaused = false
        var pauses = 0
        let port = try net.listen(tls: contexts?.server) { peer in
            peer.onReceived = { connection, _ in
                #expect(!isPaused, "read while paused")
                isPaused = true
                pauses += 1
                connection.pauseReading()
                connection.setDeadline(at: Clock.monotonicMs() + 1)
            }
            peer.onDeadline = { connection in
                isPaused = false
                connection.resumeReading()
                connection.resumeReading()
            }
        }
        try net.connect(port, tls: contexts?.client) { peer in peer.onOpened = { #expect($0.send(bytes)) } }
        try net.run { (net.peers.first?.received.count ?? 0) >= bytes.count }
        #expect(net.peers.first?.received == bytes)
        #expect(pauses > 1)
    }

    /// Pausing before the connection was made used to stop the connect and the handshake.
    @Test(arguments: [false, true])
    func readingMayBePausedBeforeTheConnectionIsMade(_ isSecure: Bool) throws {
        let net = try Net()
        let contexts = try ConnectionTests.contexts(isSecure)
        let port = try net.listen(tls: contexts?.server) { $0.onOpened = { _ = $0.send([1]) } }
        let client = try net.connect(port, tls: contexts?.client) { peer in
            peer.onOpened = { $0.setDeadline(at: Clock.monotonicMs() + 20) }
            peer.onDeadline = { connection in
                #expect(peer.received.isEmpty)
                connection.resumeReading()
            }
        }
        client.connection?.pauseReading()
        try net.run { client.received == [1] }
    }
}
