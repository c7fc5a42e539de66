import COpenSSL
import Core
import Glibc
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

    /// One TLS handshake of a client with a session to resume, in blocking calls; the server sends one byte first.
    final class Resumer: Sendable {
        @safe private struct Sessions: @unchecked Sendable {
            var saved: OpaquePointer?
        }

        private let sessions = Guarded(Sessions())
        private let version: Int

        init(version: Int) {
            self.version = version
        }

        deinit {
            sessions.withLock { unsafe SSL_SESSION_free($0.saved) }
        }

        /// Handshakes; keeps the session for the next time; tells whether the one before was resumed.
        func connect(_ descriptor: Int32) -> [UInt8] {
            guard let context = unsafe SSL_CTX_new(TLS_client_method()) else { return [] }
            defer { unsafe SSL_CTX_free(context) }
            _ = unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, version, nil)
            guard let ssl = unsafe SSL_new(context) else { return [] }
            defer { unsafe SSL_free(ssl) }
            return sessions.withLock { sessions in
                _ = unsafe SSL_set_fd(ssl, descriptor)
                if let saved = unsafe sessions.saved { _ = unsafe SSL_set_session(ssl, saved) }
                var byte: UInt8 = 0
                guard unsafe SSL_connect(ssl) == 1, unsafe SSL_read(ssl, &byte, 1) == 1 else {
                    return Array("failed".utf8)
                }
                let isResumed = unsafe SSL_session_reused(ssl) == 1
                unsafe SSL_SESSION_free(sessions.saved)
                unsafe sessions.saved = SSL_get1_session(ssl)
                _ = unsafe SSL_shutdown(ssl)
                return Array((isResumed ? "resumed" : "full").utf8)
            }
        }
    }

    /// Two nodes of a site: a session of the first resumes at the second when, and only when, they share ticket keys.
    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION], [true, false])
    func aSessionResumesAtAnotherNodeThatSharesTicketKeys(_ version: Int32, _ areShared: Bool) throws {
        let certificate = try TestCertificate(ticketKeys: (0..<80).map { UInt8($0) })
        var otherFiles = certificate.files
        if !areShared { otherFiles.ticketKeys = Array(repeating: 9, count: 80) }
        let net = try Net()
        let first = try net.listen(tls: try certificate.server()) { $0.onOpened = { _ = $0.send([1]) } }
        let second = try net.listen(tls: try TLSContext(server: otherFiles)) { $0.onOpened = { _ = $0.send([1]) } }
        let resumer = Resumer(version: Int(version))
        let client = try BlockingClient(first, wake: net.wake) { descriptor in
            let one = resumer.connect(descriptor)
            guard let next = BlockingClient.connected(second) else { return [] }
            let two = resumer.connect(next)
            _ = close(next)
            return one + [0x20] + two
        }
        try net.run { client.isDone }
        #expect(String(decoding: client.bytes, as: UTF8.self) == (areShared ? "full resumed" : "full full"))
        #expect(net.server.statistics.handshakes.value == 2)
        #expect(net.server.statistics.handshakesResumed.value == (areShared ? 1 : 0))
    }
}
