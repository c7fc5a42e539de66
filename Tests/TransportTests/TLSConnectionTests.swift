import Core
import Reactors
import Testing

@testable import Transport

@Suite struct TLSConnectionTests {
    @Test func bytesThatAreNotTLSAreRefused() throws {
        let net = try Net()
        let port = try net.listen(tls: try TestCertificate().server())
        let client = try BlockingClient(port, wake: net.wake) { descriptor in
            BlockingClient.send(descriptor, Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
            return BlockingClient.receiveAll(descriptor)
        }
        try net.run { client.isDone && net.server.statistics.open.value == 0 }
        #expect(net.peers.first?.reason == .tlsFailed)
        #expect(net.peers.first?.openings == 0)
        #expect(net.server.statistics.handshakes.value == 0)
    }

    /// Names a client asks for, and whether the development certificate is valid for them.
    @Test(arguments: [
        ("localhost", true), ("127.0.0.1", true), ("::1", true), ("example.com", false), ("127.0.0.2", false),
        ("sub.localhost", false), ("", true),
    ])
    func theCertificateMustFitTheName(_ name: String, _ fits: Bool) throws {
        let net = try Net()
        let certificate = try TestCertificate()
        let port = try net.listen(tls: try certificate.server())
        let client = try net.connect(port, tls: try certificate.client(), name: name)
        let connection = client.connection
        try net.run { client.openings > 0 || client.reason != nil }
        #expect((client.openings == 1) == fits)
        guard !fits else { return }
        #expect(client.reason == .tlsFailed)
        #expect(connection?.failureText == "certificate verify failed")
    }

    @Test func anAuthorityThatIsNotTrustedIsRefused() throws {
        let net = try Net()
        let port = try net.listen(tls: try TestCertificate().server())
        let others = try TestCertificate().client()
        let system = try TLSContext(clientTrusting: nil)
        let clients = [try net.connect(port, tls: others), try net.connect(port, tls: system)]
        try net.run { clients.allSatisfy { $0.reason != nil } }
        #expect(clients.allSatisfy { $0.reason == .tlsFailed && $0.openings == 0 })
    }

    /// One handshake a tick: all clients get in all the same.
    @Test func theHandshakeBudgetDelaysAndDoesNotLose() throws {
        let net = try Net { $0.handshakesPerTick = 1 }
        let certificate = try TestCertificate()
        let port = try net.listen(tls: try certificate.server())
        let trust = try certificate.client()
        let clients = try (0..<10).map { _ in try net.connect(port, tls: trust) }
        try net.run { clients.allSatisfy { $0.openings == 1 } && net.server.statistics.handshakes.value == 10 }
        #expect(net.server.statistics.handshakes.value == 10)
    }
}
