import COpenSSL
import Glibc
import Reactors
import Testing

@testable import Connections

/// Handshakes of one client, in blocking calls; each offers the session of the one before.
private final class Resumer: Sendable {
    @safe private struct Sessions: @unchecked Sendable {
        var saved: OpaquePointer?
    }

    private let sessions = Guarded(Sessions())
    private let version: Int

    init(version: Int32) {
        self.version = Int(version)
    }

    deinit {
        sessions.withLock { unsafe SSL_SESSION_free($0.saved) }
    }

    /// Handshakes, and reads the byte that the server sends first, so that its ticket has come.
    func connect(_ descriptor: Int32) -> String {
        guard let context = unsafe SSL_CTX_new(TLS_client_method()) else { return "failed" }
        defer { unsafe SSL_CTX_free(context) }
        _ = unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, version, nil)
        guard let ssl = unsafe SSL_new(context) else { return "failed" }
        defer { unsafe SSL_free(ssl) }
        return sessions.withLock { sessions in
            _ = unsafe SSL_set_fd(ssl, descriptor)
            if let saved = unsafe sessions.saved { _ = unsafe SSL_set_session(ssl, saved) }
            var byte: UInt8 = 0
            guard unsafe SSL_connect(ssl) == 1, unsafe SSL_read(ssl, &byte, 1) == 1 else { return "failed" }
            let isResumed = unsafe SSL_session_reused(ssl) == 1
            unsafe SSL_SESSION_free(sessions.saved)
            unsafe sessions.saved = SSL_get1_session(ssl)
            _ = unsafe SSL_shutdown(ssl)
            return isResumed ? "resumed" : "full"
        }
    }
}

/// Which handshakes are abbreviated when a client goes from node to node, over days and reloads.
@Suite struct TLSTicketTests {
    private static let versions = [TLS1_2_VERSION, TLS1_3_VERSION]
    private static let secret: [UInt8] = Array(0..<32)
    private static let other = [UInt8](repeating: 9, count: 32)

    private func context(
        _ certificate: TestCertificate, secret: [UInt8] = secret, replacing previous: TLSContext? = nil,
        day: Int64 = 20_000
    ) throws -> TLSContext {
        var files = certificate.files
        files.ticketSecret = secret
        return try TLSContext(server: files, replacing: previous, ticketDay: day)
    }

    /// The handshakes of a client that visits one after the other.
    private func handshakes(_ version: Int32, _ contexts: TLSContext...) throws -> String {
        let net = try Net()
        let ports = try contexts.map { tls in try net.listen(tls: tls) { $0.onOpened = { _ = $0.send([1]) } } }
        let resumer = Resumer(version: version)
        let client = try BlockingClient(try #require(ports.first), wake: net.wake) { descriptor in
            var outcomes = [resumer.connect(descriptor)]
            for port in ports.dropFirst() {
                guard let next = BlockingClient.connected(port) else { return [] }
                outcomes.append(resumer.connect(next))
                _ = close(next)
            }
            return Array(outcomes.joined(separator: " ").utf8)
        }
        try net.run { client.isDone }
        let outcomes = String(decoding: client.bytes, as: UTF8.self)
        let words = outcomes.split(separator: " ")
        #expect(net.server.statistics.handshakes.value == words.count)
        #expect(net.server.statistics.handshakesResumed.value == words.count { $0 == "resumed" })
        return outcomes
    }

    @Test(arguments: versions)
    func aSessionResumesAtANodeOfTheSameSecret(_ version: Int32) throws {
        let (one, two) = (try TestCertificate(), try TestCertificate())
        #expect(try handshakes(version, try context(one), try context(two)) == "full resumed")
        #expect(
            try handshakes(version, try context(one), try context(one, secret: TLSTicketTests.other)) == "full full")
    }

    @Test(arguments: versions)
    func withoutASecretThePrivateKeyServes(_ version: Int32) throws {
        let (one, two) = (try TestCertificate(), try TestCertificate())
        let first = try context(one, secret: [])
        #expect(try handshakes(version, first, try context(one, secret: [])) == "full resumed")
        #expect(try handshakes(version, first, try context(two, secret: [])) == "full full")
    }

    /// A renewed certificate has the same key or another; the clock decides on the day.
    @Test func theClockOfTheNodeServesToo() throws {
        let certificate = try TestCertificate()
        let (one, two) = (try certificate.server(), try certificate.server())
        #expect(try handshakes(TLS1_3_VERSION, one, two) == "full resumed")
    }

    /// Days between the node that issued a ticket and the one that gets it, and what comes of it.
    ///
    /// A day ahead is a clock that runs before the others, or was set back since; two are a full handshake, never a
    /// failed one.
    @Test(
        arguments: versions,
        [(0, "resumed"), (1, "resumed"), (2, "full"), (-1, "resumed"), (-2, "full"), (400, "full")])
    func aTicketIsGoodOnItsDayAndTheNext(_ version: Int32, _ passed: (days: Int64, outcome: String)) throws {
        let certificate = try TestCertificate()
        let later = try context(certificate, day: 20_000 + passed.days)
        #expect(try handshakes(version, try context(certificate), later) == "full \(passed.outcome)")
    }

    @Test(arguments: versions)
    func yesterdaysTicketIsRenewed(_ version: Int32) throws {
        let certificate = try TestCertificate()
        let days = try (0..<3).map { try context(certificate, day: 20_000 + $0) }
        #expect(try handshakes(version, days[0], days[1], days[2]) == "full resumed resumed")
    }

    @Test(arguments: versions)
    func afterAReloadTheEarlierSecretIsTakenAndTheNewOneIssues(_ version: Int32) throws {
        let (one, two) = (try TestCertificate(), try TestCertificate())
        let before = try context(one, secret: [])
        let after = try context(two, secret: [], replacing: before)
        let elsewhere = try context(two, secret: [])
        #expect(try handshakes(version, before, after, elsewhere) == "full resumed resumed")
        // And back again: what issues now is not twice in the list.
        #expect(try handshakes(version, after, try context(one, secret: [], replacing: after)) == "full resumed")
    }

    @Test(arguments: [(1, "resumed"), (2, "full")])
    func aReplacedSecretEndsWithTheNextDay(_ passed: (days: Int64, outcome: String)) throws {
        let certificate = try TestCertificate()
        let before = try context(certificate)
        let reloaded = try context(certificate, secret: TLSTicketTests.other, replacing: before)
        let day = 20_000 + passed.days
        let straggler = try context(certificate, day: day)
        let today = try context(certificate, secret: TLSTicketTests.other, replacing: reloaded, day: day)
        #expect(try handshakes(TLS1_3_VERSION, straggler, today) == "full \(passed.outcome)")
    }

    @Test(arguments: [(3, "resumed"), (4, "full")])
    func threeEarlierSecretsAreKept(_ reloads: (count: Int, outcome: String)) throws {
        let certificate = try TestCertificate()
        let first = try context(certificate)
        var last = first
        for number in 1...reloads.count {
            last = try context(certificate, secret: Array(repeating: UInt8(number), count: 32), replacing: last)
        }
        #expect(try handshakes(TLS1_3_VERSION, first, last) == "full \(reloads.outcome)")
    }
}
