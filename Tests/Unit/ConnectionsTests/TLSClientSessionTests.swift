import Core
import Reactors
import Testing

@testable import Connections

@Suite struct TLSClientSessionTests {
    /// Connects with the session, keeps it anew after the server's first byte, and cuts the connection.
    private func connect(_ net: Net, _ port: UInt16, _ session: TLSClientSession, _ peer: Peer) throws {
        peer.onReceived = { connection, _ in
            connection.saveSession(in: session)
            if connection.wasTLSResumed { peer.deadlines += 1 }
            connection.reset(.normal)
        }
        _ = try Connection.connect(
            net.client, to: .tcp(IPAddress(127, 0, 0, 1), port: port), resuming: session, outboundBytesMax: 1 << 20,
            handler: peer)
    }

    /// A reset breaks the connection, not the session; another node with the same ticket keys resumes it, too.
    @Test(arguments: [true, false])
    func aSessionOutlivesItsConnection(_ areKeysShared: Bool) throws {
        let certificate = try TestCertificate(ticketSecret: (0..<80).map { UInt8($0) })
        var otherFiles = certificate.files
        if !areKeysShared { otherFiles.ticketSecret = Array(repeating: 9, count: 80) }
        let net = try Net()
        let first = try net.listen(tls: try certificate.server()) { $0.onOpened = { _ = $0.send([1]) } }
        let second = try net.listen(tls: try TLSContext(server: otherFiles)) { $0.onOpened = { _ = $0.send([1]) } }
        let session = TLSClientSession(try certificate.client(), name: "localhost")
        let peers = [Peer(), Peer(), Peer()]
        var begun = 0
        try net.run {
            if begun == 0 || begun < peers.count && peers[begun - 1].reason != nil {
                do {
                    try connect(net, begun == 2 ? second : first, session, peers[begun])
                } catch {
                    Issue.record(error)
                }
                begun += 1
            }
            return peers.allSatisfy { $0.reason != nil }
        }
        #expect(peers.map(\.openings) == [1, 1, 1])
        #expect(peers.map(\.deadlines) == [0, 1, areKeysShared ? 1 : 0])
        #expect(net.server.statistics.handshakesResumed.value == (areKeysShared ? 2 : 1))
    }
}
