import Reactors
import Testing

@testable import Transport

@Suite struct AddressTests {
    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1", 4), ("::1", "::1", 16), ("2001:DB8:0:0::9", "2001:db8::9", 16),
        ("::ffff:192.0.2.7", "192.0.2.7", 4), ("::192.0.2.7", "::192.0.2.7", 16), ("::", "::", 16),
    ])
    func numericFormsAreRead(_ text: String, _ shown: String, _ count: Int) throws {
        let address = try #require(Address(text: text.utf8))
        #expect(address.description == shown)
        #expect(address.bytes.count == count)
        #expect(Address(text: shown.utf8) == address)
    }

    @Test(arguments: [
        "", "localhost", "1.2.3", "1.2.3.4.5", "256.1.1.1", "1.2.3.4 ", " 1.2.3.4", "1.2.3.4\u{0}", "::1%lo", "[::1]",
        "12345::", "1::2::3", "127.0.0.1:80", "\u{ff11}.0.0.1",
    ])
    func othersAreNot(_ text: String) {
        #expect(Address(text: text.utf8) == nil)
    }

    @Test func aLimitCountsAnIPv6NetworkOfSixtyFourBits() throws {
        let one = try #require(Address(text: "2001:db8:0:1::1".utf8))
        let two = try #require(Address(text: "2001:db8:0:1:ffff::2".utf8))
        let other = try #require(Address(text: "2001:db8:0:2::1".utf8))
        #expect(one != two)
        #expect(one.limitKey == two.limitKey)
        #expect(one.limitKey != other.limitKey)
        #expect(Address(bytes: [1, 2, 3, 4]).limitKey == [1, 2, 3, 4])
        #expect(Address(bytes: []).limitKey == [])
        #expect(Address(bytes: []).description == "unix")
    }

    @Test func endpointsAreShownAsPeopleWriteThem() throws {
        let six = try #require(Address(text: "::1".utf8))
        #expect(Endpoint.tcp(Address(bytes: [127, 0, 0, 1]), port: 80).description == "127.0.0.1:80")
        #expect(Endpoint.tcp(six, port: 443).description == "[::1]:443")
        #expect(Endpoint.unix(path: "/run/x.sock").description == "/run/x.sock")
    }
}

@Suite struct SocketsTests {
    static let loopback = Endpoint.tcp(Address(bytes: [127, 0, 0, 1]), port: 0)

    @Test func aFreePortIsTold() throws {
        let listener = try Sockets.listen(SocketsTests.loopback, backlog: 8)
        #expect(Sockets.port(of: listener.raw) > 0)
        #expect(Sockets.port(of: -1) == 0)
    }

    @Test func listenersShareAPort() throws {
        let one = try Sockets.listen(SocketsTests.loopback, backlog: 8)
        let port = Sockets.port(of: one.raw)
        let two = try Sockets.listen(.tcp(Address(bytes: [127, 0, 0, 1]), port: port), backlog: 8)
        #expect(Sockets.port(of: two.raw) == port)
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
        let path = "/tmp/" + String(repeating: "x", count: 200)
        do {
            _ = try Sockets.connect(.unix(path: path))
            Issue.record("the path fits")
        } catch {
            #expect(error.description == "File name too long")
        }
    }

    @Test func anAddressThatIsNotOursCannotBeListenedOn() {
        do {
            _ = try Sockets.listen(.tcp(Address(bytes: [192, 0, 2, 1]), port: 0), backlog: 8)
            Issue.record("listening on a documentation address")
        } catch {
            #expect(error.description == "Cannot assign requested address")
        }
    }
}
