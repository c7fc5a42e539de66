import Core
import Reactors
import Testing

@testable import Transport

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

    @Test func anOwedFrameIsTakenBeyondTheBoundUntilTheQueueIsEmpty() throws {
        let net = try Net { $0.outboundBytesMax = 100 }
        var isChecked = false
        let port = try net.listen { peer in
            peer.onOpened = { connection in
                #expect(connection.send(Array(repeating: 1, count: 100)))
                #expect(!connection.send([2]))
                connection.allow(50)
                #expect(connection.send(Array(repeating: 3, count: 50)))
                #expect(!connection.send([4]))
            }
            peer.onReceived = { connection, _ in
                #expect(connection.send(Array(repeating: 5, count: 100)))
                #expect(!connection.send([6]), "the allowance ended with the queue")
                isChecked = true
            }
        }
        let client = try net.connect(port) { peer in
            peer.onReceived = { connection, _ in
                if peer.received.count == 150 { _ = connection.send([0]) }
            }
        }
        try net.run { client.received.count == 250 }
        #expect(isChecked)
    }

    /// The bound of all connections together: a connection that has read everything may still be sent a frame.
    @Test func allConnectionsTogetherHaveABound() throws {
        let net = try Net { $0.outboundTotalBytesMax = 1_000 }
        var taken: [Bool] = []
        let port = try net.listen()
        let clients = try (0..<3).map { _ in try net.connect(port) }
        let wake = net.wake
        try net.run {
            wake.signal()
            let connections = net.peers.compactMap(\.connection)
            if taken.isEmpty && connections.count == 3 {
                for connection in connections {
                    taken.append(connection.send(Array(repeating: 1, count: 600)))
                    taken.append(connection.send(Array(repeating: 1, count: 300)))
                }
            }
            return clients.allSatisfy { $0.received.count >= 600 } && net.server.statistics.queuedBytes.value == 0
        }
        #expect(taken == [true, true, true, false, true, false])
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
