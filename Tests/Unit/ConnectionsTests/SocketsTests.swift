import Core
import Glibc
import Reactors
import Testing

@testable import Connections

@Suite struct EndpointTests {
    @Test func endpointsAreShownAsPeopleWriteThem() throws {
        let six = try #require(IPAddress(text: "::1".utf8))
        #expect(Endpoint.tcp(IPAddress(127, 0, 0, 1), port: 80).description == "127.0.0.1:80")
        #expect(Endpoint.tcp(six, port: 443).description == "[::1]:443")
        #expect(Endpoint.unix(path: "/run/x.sock").description == "/run/x.sock")
    }
}

@Suite struct SocketsTests {
    static let loopback = Endpoint.tcp(IPAddress(127, 0, 0, 1), port: 0)

    @Test func aFreePortIsTold() throws {
        let listener = try Sockets.listen(SocketsTests.loopback, backlog: 8)
        #expect(Sockets.port(of: listener.raw) > 0)
        #expect(Sockets.port(of: -1) == 0)
    }

    /// A second process listened silently beside the first, and the kernel split the clients between them.
    @Test func aTakenPortIsRefused() throws {
        let one = try Sockets.listen(SocketsTests.loopback, backlog: 8)
        let taken = Endpoint.tcp(IPAddress(127, 0, 0, 1), port: Sockets.port(of: one.raw))
        #expect(throws: Errno.addressInUse) { _ = try Sockets.listen(taken, backlog: 8) }
        Sockets.share(one.raw)
        #expect(throws: Errno.addressInUse) { _ = try Sockets.listen(taken, backlog: 8) }
    }

    @Test func listenersShareAPortWhenAllSaySo() throws {
        let one = try Sockets.listen(SocketsTests.loopback, backlog: 8)
        Sockets.share(one.raw)
        let port = Sockets.port(of: one.raw)
        let two = try Sockets.bound(to: .tcp(IPAddress(127, 0, 0, 1), port: port), isShared: true)
        try Sockets.listen(on: two.raw, backlog: 8)
        #expect(Sockets.port(of: two.raw) == port)
    }

    /// Neither listens when the other binds, so it is found out as late as they listen.
    @Test func ofTwoThatBindAtOnceOneListens() throws {
        let one = try Sockets.bound(to: SocketsTests.loopback, isShared: false)
        let port = Sockets.port(of: one.raw)
        let two = try Sockets.bound(to: .tcp(IPAddress(127, 0, 0, 1), port: port), isShared: false)
        try Sockets.listen(on: two.raw, backlog: 8)
        Sockets.share(two.raw)
        #expect(throws: Errno.addressInUse) { try Sockets.listen(on: one.raw, backlog: 8) }
    }

    /// The listener is tuned in place of each connection, as Linux hands its options on.
    @Test func whatIsAcceptedIsTuned() throws {
        let listener = try Sockets.listen(SocketsTests.loopback, backlog: 8)
        let client = try Sockets.connect(.tcp(IPAddress(127, 0, 0, 1), port: Sockets.port(of: listener.raw)))
        // Over loopback the connection waits when connect(2) has returned.
        let accepted = try Sockets.accept(listener.raw)
        for raw in [client.raw, accepted.descriptor.raw] {
            #expect(option(raw, Int32(IPPROTO_TCP), TCP_NODELAY) == 1)
            #expect(option(raw, SOL_SOCKET, SO_KEEPALIVE) == 1)
            #expect(option(raw, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT) == 20_000)
        }
    }

    private func option(_ raw: Int32, _ level: Int32, _ name: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return unsafe getsockopt(raw, level, name, &value, &length) == 0 ? value : nil
    }

    @Test func nobodyWaitsToBeAccepted() throws {
        let listener = try Sockets.listen(SocketsTests.loopback, backlog: 8)
        do {
            _ = try Sockets.accept(listener.raw)
            Issue.record("nobody had connected")
        } catch {
            #expect(error == .wouldBlock)
        }
    }

    @Test func aUnixPathTooLongIsAnError() {
        let path = "/run/" + String(repeating: "x", count: 200)
        do {
            _ = try Sockets.connect(.unix(path: path))
            Issue.record("the path fits")
        } catch {
            #expect(error.description == "File name too long")
        }
    }

    @Test func anAddressThatIsNotOursCannotBeListenedOn() {
        do {
            _ = try Sockets.listen(.tcp(IPAddress(192, 0, 2, 1), port: 0), backlog: 8)
            Issue.record("listening on a documentation address")
        } catch {
            #expect(error.description == "Cannot assign requested address")
        }
    }
}
