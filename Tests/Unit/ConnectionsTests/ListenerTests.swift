import CLinux
import COpenSSL
import Core
import Glibc
import Reactors
import Testing

@testable import Connections

@Suite struct ListenerTests {
    /// Sends a PROXY header and the ClientHello in one segment (MSG_MORE), then reads one byte over TLS.
    static func proxiedTLS(_ descriptor: Int32, _ header: [UInt8]) -> [UInt8] {
        guard let context = unsafe SSL_CTX_new(TLS_client_method()) else { return [] }
        defer { unsafe SSL_CTX_free(context) }
        guard let ssl = unsafe SSL_new(context) else { return [] }
        defer { unsafe SSL_free(ssl) }
        _ = unsafe SSL_set_fd(ssl, descriptor)
        _ = unsafe send(descriptor, header, header.count, Int32(MSG_NOSIGNAL | MSG_MORE))
        var byte: UInt8 = 0
        guard unsafe SSL_connect(ssl) == 1, unsafe SSL_read(ssl, &byte, 1) == 1 else { return Array("failed".utf8) }
        return [byte]
    }

    @Test func aProxyHeaderAndTLSInOneSegmentAreToldApart() throws {
        let net = try Net()
        let port = try net.listen(tls: try TestCertificate().server(), expectsProxyHeader: true) { peer in
            peer.onOpened = { connection in
                #expect(connection.address == IPAddress(192, 0, 2, 7))
                connection.markEstablished()
                connection.markEstablished()
                _ = connection.send([42])
            }
        }
        let client = try BlockingClient(port, wake: net.wake) {
            ListenerTests.proxiedTLS($0, Array("PROXY TCP4 192.0.2.7 198.51.100.1 4128 443\r\n".utf8))
        }
        try net.run { client.isDone && net.server.statistics.open.value == 0 }
        #expect(client.bytes == [42])
        let figures = net.gate.now
        #expect(figures.admitted == [IPAddress(192, 0, 2, 7)])
        #expect(figures.released == figures.admitted)
        #expect(figures.established == 1)
        #expect(figures.releasedEstablished == 1)
    }

    @Test func aPlainRequestBehindAProxyHeaderIsHeardWhole() throws {
        let net = try Net()
        let port = try net.listen(expectsProxyHeader: true) { peer in
            peer.onReceived = { connection, _ in
                if peer.received == Array("hello".utf8) { connection.close(.normal, last: Array("bye".utf8)) }
            }
        }
        let client = try BlockingClient(port, wake: net.wake) { descriptor in
            BlockingClient.send(descriptor, ProxyHeaderTests.binary(0x20, 0, []) + Array("hello".utf8))
            return BlockingClient.receiveAll(descriptor)
        }
        try net.run { client.isDone }
        #expect(client.bytes == Array("bye".utf8))
        #expect(net.gate.now.admitted == [IPAddress(127, 0, 0, 1)])
    }

    @Test func aMissingProxyHeaderEndsTheConnection() throws {
        let net = try Net()
        let port = try net.listen(expectsProxyHeader: true)
        let client = try BlockingClient(port, wake: net.wake) { descriptor in
            BlockingClient.send(descriptor, Array("GET / HTTP/1.1\r\n\r\n".utf8))
            return BlockingClient.receiveAll(descriptor)
        }
        try net.run { client.isDone && net.server.statistics.open.value == 0 }
        #expect(net.peers.first?.reason == .proxyHeader)
        #expect(net.gate.now.admitted.isEmpty && net.gate.now.released.isEmpty)
    }

    @Test func aPeerOverTheLimitIsTurnedAwayAndGivesNoPlaceBack() throws {
        let net = try Net()
        net.gate.limit(to: 2)
        let port = try net.listen()
        let clients = try (0..<3).map { _ in try net.connect(port) }
        try net.run { net.peers.count == 3 && clients.contains { $0.reason != nil } }
        #expect(net.peers.count { $0.reason == .connectionLimit } == 1)
        #expect(net.peers.count { $0.openings == 1 } == 2)
        #expect(net.gate.now.released.count == 2)
        #expect(net.gate.now.placesLeft == 2)
    }

    /// Behind a proxy the place of a connection moves to its client, who is released in the end.
    @Test(arguments: [true, false])
    func aConnectionIsCountedForTheClientBehindAProxy(_ mayMove: Bool) throws {
        let net = try Net()
        if !mayMove { net.gate.forbidMoves() }
        let (proxy, client) = (IPAddress(127, 0, 0, 1), IPAddress(192, 0, 2, 7))
        let port = try net.listen { peer in
            peer.onOpened = { connection in
                #expect(connection.attribute(to: proxy), "it is counted there already")
                #expect(connection.attribute(to: client) == mayMove)
                connection.close(.normal)
            }
        }
        try net.connect(port)
        try net.run { net.peers.first?.reason != nil && net.server.statistics.open.value == 0 }
        #expect(net.gate.now.moves == (mayMove ? [[proxy, client]] : []))
        #expect(net.gate.now.released == [mayMove ? client : proxy])
    }

    @Test func aClosedListenerLetsItsConnectionsBe() throws {
        let net = try Net()
        let descriptor = try Sockets.listen(SocketsTests.loopback, backlog: 8)
        let port = Sockets.port(of: descriptor.raw)
        let peer = Peer()
        var listener: Listener?
        let style = Listener.Style(
            tls: nil, expectsProxyHeader: { _ in false }, acceptsPerTick: 1, acceptPauseMs: 10, descriptorReserve: 0)
        listener = try Listener(context: net.server, listening: descriptor, style: style, admission: net.gate) { peer }
        peer.onOpened = { _ in listener?.close() }
        peer.onReceived = { _ = $0.send($1) }
        let client = try net.connect(port) { client in client.onOpened = { _ = $0.send([1]) } }
        try net.run { client.received == [1] }
        #expect(throws: Errno.connectionRefused) {
            let late = try Sockets.connect(.tcp(IPAddress(127, 0, 0, 1), port: port))
            var watched = pollfd(fd: late.raw, events: Int16(POLLOUT), revents: 0)
            _ = unsafe poll(&watched, 1, 10_000)
            if let failure = Sockets.pendingError(late.raw) { throw failure }
        }
        peer.connection?.abort(.normal)
    }

    static func openDescriptors() -> Int {
        guard let directory = unsafe opendir("/proc/self/fd") else { return -1 }
        defer { unsafe closedir(directory) }
        var count = 0
        while unsafe readdir(directory) != nil { count += 1 }
        return count
    }

    /// In a process of its own, since it lowers the process's limit of descriptors.
    @Test func aListenerWithoutDescriptorsPausesAndGoesOn() async {
        await #expect(processExitsWith: .success) {
            let net = try Net()
            let port = try net.listen(acceptPauseMs: 30)
            let clients = (0..<8).map { _ in BlockingClient.connected(port) }
            #expect(clients.allSatisfy { $0 != nil })
            var limit = rlimit()
            _ = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let before = limit
            limit.rlim_cur = 3
            _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            var ticksWhenRaised = 0
            var startMs = 0
            try net.run {
                let errors = net.server.statistics.acceptErrors.value
                if errors == 1 && startMs == 0 { startMs = Clock.monotonicMs() }
                if errors == 3 && ticksWhenRaised == 0 {
                    ticksWhenRaised = net.reactor.tick
                    var raised = before
                    _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &raised)
                }
                return net.server.statistics.accepted.value == 8
            }
            precondition(net.server.statistics.acceptErrors.value == 3)
            precondition(ticksWhenRaised <= 10, "the listener spins while it is out of descriptors")
            precondition(Clock.monotonicMs() - startMs >= 60, "the listener does not pause")
        }
    }

    /// In a process of its own, since it lowers the process's limit of descriptors.
    @Test func aDialAndALoopTakeNoneOfTheLastDescriptors() async {
        await #expect(processExitsWith: .success) {
            let wake = try Wake()
            let descriptor = try Sockets.listen(SocketsTests.loopback, backlog: 8)
            let server = Endpoint.tcp(IPAddress(127, 0, 0, 1), port: Sockets.port(of: descriptor.raw))
            // The next descriptor is the first of those that are left to others.
            var limit = rlimit()
            _ = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            limit.rlim_cur = rlim_t(ListenerTests.openDescriptors() + DescriptorReserve.links + 32)
            _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            var held: [Int32] = []
            while held.last ?? 0 < DescriptorReserve.ceiling(reserve: DescriptorReserve.links) - 1 {
                held.append(dup(descriptor.raw))
            }
            #expect(throws: Errno.tooManyFiles) { _ = try Sockets.connect(server) }
            #expect(throws: Errno.tooManyFiles) { _ = try Reactor(wake: wake) }
            close(held.removeLast())
            #expect(throws: Never.self) { _ = try Sockets.connect(server) }
            #expect(throws: Never.self) { _ = try Reactor(wake: wake) }
        }
    }

    /// In a process of its own, since other tests open and close descriptors.
    @Test func aChurnOfConnectionsLeavesNoDescriptor() async {
        await #expect(processExitsWith: .success) {
            let certificate = try TestCertificate()
            let (server, trust) = (try certificate.server(), try certificate.client())
            var counts: [Int] = []
            for _ in 0..<2 {
                let net = try Net()
                let before = ListenerTests.openDescriptors()
                let port = try net.listen(tls: server) { $0.onReceived = { _ = $0.send($1) } }
                func start() throws {
                    try net.connect(port, tls: trust) { peer in
                        peer.onOpened = { _ = $0.send([1]) }
                        peer.onReceived = { connection, _ in connection.close(.normal) }
                    }
                }
                for _ in 0..<20 { try start() }
                var over = 0
                try net.run {
                    let ended = net.clients.count { $0.reason != nil }
                    while over < ended {
                        over += 1
                        if net.clients.count < 200 { try? start() }
                    }
                    return over == 200 && net.server.statistics.open.value == 0
                        && net.client.statistics.open.value == 0
                }
                precondition(net.clients.allSatisfy { $0.received == [1] })
                counts.append(ListenerTests.openDescriptors() - before)
            }
            precondition(counts == [0, 0], "descriptors left: \(counts)")
        }
    }
}
