import CLinux
import COpenSSL
import Core
import Glibc
import Reactors
import Testing

@testable import Connections

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

    /// The answer to a hello is signed, which takes longer than all else in a tick.
    ///
    /// The hellos of browsers with keys of post-quantum size come in two segments.
    @Test(arguments: [1, 2]) func aHelloIsAnsweredBehindTheFlush(_ parts: Int) throws {
        let net = try Net()
        let certificate = try TestCertificate()
        let port = try net.listen(tls: try certificate.server()) { $0.onReceived = { _ = $0.send($1) } }
        // It has an event to flush in each tick.
        let talker = try net.connect(port, tls: try certificate.client()) { peer in
            peer.onOpened = { _ = $0.send([1]) }
            peer.onReceived = { _ = $0.send($1) }
        }
        var hello = TLSConnectionTests.hello()[...]
        #expect(hello.count > 100)
        var newcomer: Int32?
        var sentAt = 0
        var isAnswered = false
        func hasAnswer() -> Bool {
            var byte: UInt8 = 0
            return newcomer.map { unsafe recv($0, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) == 1 } ?? false
        }
        net.reactor.onFlush = { #expect(isAnswered || !hasAnswer()) }
        try net.run {
            if newcomer == nil, talker.received.count > 3 { newcomer = BlockingClient.connected(port) }
            // The server has read one part some ticks before the next.
            if let newcomer, !hello.isEmpty, net.reactor.tick > sentAt + 5 {
                let part = hello.prefix(parts == 2 && sentAt == 0 ? 50 : hello.count)
                BlockingClient.send(newcomer, Array(part))
                hello = hello.dropFirst(part.count)
                sentAt = net.reactor.tick
            }
            isAnswered = hasAnswer()
            return isAnswered
        }
        #expect(isAnswered && hello.isEmpty)
        if let newcomer { _ = close(newcomer) }
    }

    /// The first bytes of a client.
    private static func hello() -> [UInt8] {
        guard let context = unsafe SSL_CTX_new(TLS_client_method()) else { return [] }
        defer { unsafe SSL_CTX_free(context) }
        guard let ssl = unsafe SSL_new(context), let out = unsafe BIO_new(BIO_s_mem()) else { return [] }
        defer { unsafe SSL_free(ssl) }
        unsafe SSL_set_bio(ssl, BIO_new(BIO_s_mem()), out)
        _ = unsafe SSL_connect(ssl)
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe BIO_read(out, &bytes, Int32(bytes.count))
        return Array(bytes.prefix(max(0, Int(count))))
    }

    /// AES-128 is cheaper to set up and to use than what OpenSSL prefers; whoever has only another gets that.
    @Test(arguments: [
        ("TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256"),
        ("TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256", "TLS_CHACHA20_POLY1305_SHA256"),
        ("TLS_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384"),
    ])
    func theServerChoosesTheSuite(_ offered: String, _ chosen: String) throws {
        let net = try Net()
        let port = try net.listen(tls: try TestCertificate().server()) { $0.onOpened = { _ = $0.send([1]) } }
        let client = try BlockingClient(port, wake: net.wake) { TLSConnectionTests.suite($0, offering: offered) }
        try net.run { client.isDone }
        #expect(String(decoding: client.bytes, as: UTF8.self) == chosen)
    }

    private static func suite(_ descriptor: Int32, offering suites: String) -> [UInt8] {
        guard let context = unsafe SSL_CTX_new(TLS_client_method()) else { return [] }
        defer { unsafe SSL_CTX_free(context) }
        guard unsafe SSL_CTX_set_ciphersuites(context, suites) == 1, let ssl = unsafe SSL_new(context) else {
            return []
        }
        defer { unsafe SSL_free(ssl) }
        _ = unsafe SSL_set_fd(ssl, descriptor)
        guard unsafe SSL_connect(ssl) == 1 else { return Array("failed".utf8) }
        return Array(unsafe String(cString: SSL_CIPHER_get_name(SSL_get_current_cipher(ssl))).utf8)
    }
}
