import Core
import Glibc
import Reactors
import Testing

@testable import Connections

@Suite struct ConnectionTests {
    static func pattern(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    }

    /// A certificate for the suite, and the two contexts made of it; `nil` for plain TCP.
    static func contexts(_ isSecure: Bool) throws -> (server: TLSContext, client: TLSContext)? {
        guard isSecure else { return nil }
        let certificate = try TestCertificate()
        return (try certificate.server(), try certificate.client())
    }

    @Test(arguments: [false, true], [0, 1, 2, 100, 16_383, 16_384, 16_385, 32_768, 65_535, 65_536, 65_537, 100_000])
    func everySizeComesBack(_ isSecure: Bool, _ size: Int) throws {
        let net = try Net()
        let contexts = try ConnectionTests.contexts(isSecure)
        let port = try net.listen(tls: contexts?.server) { $0.onReceived = { #expect($0.send($1)) } }
        let bytes = ConnectionTests.pattern(size)
        let client = try net.connect(port, tls: contexts?.client) { peer in
            peer.onOpened = { connection in
                #expect(connection.send(bytes))
                if size == 0 { connection.close(.normal) }
            }
            peer.onReceived = { connection, _ in
                if peer.received.count >= size { connection.close(.normal) }
            }
        }
        try net.run {
            net.server.statistics.open.value == 0 && net.client.statistics.open.value == 0 && !net.peers.isEmpty
        }
        #expect(client.received == bytes)
        #expect(client.reason == .normal)
        #expect(net.peers.first?.reason == .peerGone)
        #expect(client.openings == 1)
        #expect(net.server.statistics.bytesIn.value == size)
        #expect(net.server.statistics.bytesOut.value == size)
        #expect(net.server.statistics.queuedBytes.value == 0)
        #expect(net.server.statistics.handshakes.value == (isSecure ? 1 : 0))
    }

    @Test(arguments: [false, true])
    func byteByByteComesBack(_ isSecure: Bool) throws {
        let net = try Net()
        let contexts = try ConnectionTests.contexts(isSecure)
        let port = try net.listen(tls: contexts?.server) { $0.onReceived = { #expect($0.send($1)) } }
        let bytes = ConnectionTests.pattern(500)
        let client = try net.connect(port, tls: contexts?.client) { peer in
            peer.onOpened = { _ = $0.send([bytes[0]]) }
            peer.onReceived = { connection, _ in
                let next = peer.received.count
                if next < bytes.count { _ = connection.send([bytes[next]]) }
            }
        }
        try net.run { client.received.count >= bytes.count }
        #expect(client.received == bytes)
    }

    /// 100 frames in one tick are one write, and one TLS record.
    @Test(arguments: [false, true])
    func theFramesOfATickAreOneWrite(_ isSecure: Bool) throws {
        let net = try Net()
        let contexts = try ConnectionTests.contexts(isSecure)
        let frame = ConnectionTests.pattern(100)
        let port = try net.listen(tls: contexts?.server) { peer in
            peer.onOpened = { connection in for _ in 0..<100 { #expect(connection.send(frame)) } }
        }
        let client = try net.connect(port, tls: contexts?.client)
        try net.run { client.received.count >= 10_000 }
        #expect(client.received == Array(repeating: frame, count: 100).flatMap { $0 })
        #expect(net.server.statistics.writes.value == 1)
    }

    @Test(arguments: [false, true])
    func whatExceedsARecordIsWrittenInTheSameTick(_ isSecure: Bool) throws {
        let net = try Net()
        let contexts = try ConnectionTests.contexts(isSecure)
        let port = try net.listen(tls: contexts?.server) { peer in
            peer.onOpened = { connection in
                for _ in 0..<40 { #expect(connection.send(ConnectionTests.pattern(1_000))) }
            }
        }
        let client = try net.connect(port, tls: contexts?.client)
        try net.run { client.received.count >= 40_000 }
        #expect(net.server.statistics.writes.value == (isSecure ? 3 : 1))
    }

    /// Closing a socket that holds unread bytes resets it, and the reset destroys what the peer has not read yet.
    @Test func theLastBytesArriveThoughThePeersOwnAreUnread() throws {
        let net = try Net()
        let payload = ConnectionTests.pattern(200_000)
        let port = try net.listen { peer in
            peer.onReceived = { connection, _ in
                guard connection.isOpen else { return }
                connection.pauseReading()
                #expect(connection.send(payload))
                connection.close(.restart, last: Array("bye".utf8))
                #expect(!connection.send([1]))
            }
        }
        let client = try BlockingClient(port, wake: net.wake) { descriptor in
            BlockingClient.send(descriptor, Array(repeating: 1, count: 100_000))
            return BlockingClient.receiveAll(descriptor)
        }
        try net.run { client.isDone && net.server.statistics.open.value == 0 }
        #expect(client.bytes == payload + Array("bye".utf8))
        #expect(net.peers.first?.reason == .restart)
    }

    @Test func aClosedConnectionThatThePeerKeepsOpenIsEnded() throws {
        let net = try Net { $0.closeMs = 50 }
        let port = try net.listen { $0.onOpened = { $0.close(.restart) } }
        let client = try BlockingClient(port, wake: net.wake) { descriptor in
            let bytes = BlockingClient.receiveAll(descriptor)
            // The server ends what it half-closed; only then does this end come.
            BlockingClient.waitForHangUp(descriptor)
            return bytes + [7]
        }
        try net.run { net.server.statistics.open.value == 0 && !net.peers.isEmpty }
        #expect(net.peers.first?.reason == .restart)
        _ = client
    }

    @Test func abortEndsAtOnceAndForgetsWhatIsQueued() throws {
        let net = try Net()
        let port = try net.listen { peer in
            peer.onOpened = { connection in
                #expect(connection.send([1, 2, 3]))
                connection.abort(.internalError)
                connection.abort(.normal)
                connection.close(.normal)
                #expect(!connection.send([4]))
                #expect(peer.reason == nil, "never from inside another of its calls")
            }
        }
        let client = try net.connect(port)
        try net.run { client.reason != nil }
        #expect(net.peers.first?.reason == .internalError)
        #expect(client.received.isEmpty)
        #expect(client.reason == .peerGone)
        #expect(net.server.statistics.queuedBytes.value == 0)
        let closed = net.server.statistics.closedByReason.filter { $0.1 > 0 }
        #expect(closed.map(\.0) == [.internalError])
    }

    /// A peer that ends its half has nothing more to say; what it said is heard first.
    @Test(arguments: [false, true])
    func aHalfCloseIsTheEndAfterItsBytes(_ isSecure: Bool) throws {
        let net = try Net()
        let contexts = try ConnectionTests.contexts(isSecure)
        let port = try net.listen(tls: contexts?.server)
        let bytes = ConnectionTests.pattern(50_000)
        try net.connect(port, tls: contexts?.client) { peer in
            peer.onOpened = { $0.close(.normal, last: bytes) }
        }
        try net.run { net.peers.first?.reason != nil }
        #expect(net.peers.first?.received == bytes)
        #expect(net.peers.first?.reason == .peerGone)
    }

    @Test func anUpgradeHandsTheConnectionOver() throws {
        let net = try Net()
        let second = Peer()
        let port = try net.listen { peer in
            peer.onReceived = { connection, _ in
                second.connection = connection
                connection.replaceHandler(second)
            }
        }
        try net.connect(port) { peer in
            peer.onOpened = { _ = $0.send([1]) }
        }
        second.onReceived = { connection, _ in connection.close(.normal) }
        let wake = net.wake
        try net.run {
            if second.connection != nil, second.received.isEmpty { _ = net.clients[0].connection?.send([2]) }
            wake.signal()
            return second.reason != nil
        }
        #expect(net.peers.first?.received == [1])
        #expect(second.received.first == 2)
        #expect(second.reason == .normal)
        #expect(net.peers.first?.reason == nil)
    }

    @Test func nobodyListening() throws {
        let net = try Net()
        let port = Sockets.port(of: try Sockets.listen(SocketsTests.loopback, backlog: 1).raw)
        let client = try net.connect(port)
        let connection = client.connection
        try net.run { client.reason != nil }
        #expect(client.openings == 0)
        #expect(client.reason == .peerGone)
        #expect(connection?.failureText == "Connection refused")
    }
}
