import Foundation
import SwitchboardClientLinux
import TestSupport
import Testing

@testable import SwitchboardClient

/// Ways in which a client can never connect: each stands in its status, by name and in words.
struct ReasonTests {
    /// By the way: the kind, and a word that its developer needs.
    private static let ways: [String: (code: ConnectionStatus.Reason.Code, word: String)] = [
        "another certificate": (.untrusted, "certificate"),
        "another path": (.notFound, "404"),
        "another scheme": (.badAddress, "wss://"),
        "a foreign origin": (.forbidden, "403"),
        "a refused token": (.unauthorized, "The token has expired."),
        "a refused API key": (.unauthorized, "401"),
        "another protocol": (.wrongProtocol, "HTTP"),
        "TLS at a plain port": (.notTLS, "ws://"),
        "no TLS at its port": (.tlsRequired, "wss://"),
        "a proxy without upgrades": (.notWebSocket, "Upgrade"),
        "a name that does not resolve": (.unresolved, "switchboard.invalid"),
    ]

    /// The servers, which end with the pipe to them.
    private final class Servers {
        let process = Process()
        let input = Pipe()
        let addresses: [String: String]

        init() throws {
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = [
                "python3", ProjectFiles.folder + "/Tests/Fixtures/processes/hopeless_servers.py",
            ]
            let output = Pipe()
            process.standardInput = input
            process.standardOutput = output
            try process.run()
            var line = Data()
            while !line.contains(10), let more = try output.fileHandleForReading.read(upToCount: 1) { line += more }
            addresses = try JSONDecoder().decode([String: String].self, from: line)
        }

        deinit {
            try? input.fileHandleForWriting.close()
            process.waitUntilExit()
        }
    }

    /// They all looked alike: an endless attempt, without a word.
    @Test("a connection that can never come about has its reason in the status, and in one line of the log")
    func reasons() async throws {
        let servers = try Servers()
        #expect(Set(servers.addresses.keys) == Set(ReasonTests.ways.keys))
        for (way, wanted) in ReasonTests.ways {
            let url = try #require(servers.addresses[way].flatMap { URL(string: $0) })
            let lines = Locked<[String]>([])
            var options = SwitchboardClient.Options()
            options.times.backoffMaxMs = 100
            options.warn = { line in lines.with { $0.append(line) } }
            let client = SwitchboardClient(url: url, token: .fixed("no.such.token"), options: options)
            client.start()
            for await status in client.status {
                // A second attempt says nothing new.
                guard let reason = status.reason, status.phase == .unauthorized || status.attempt > 1 else { continue }
                #expect(reason.code == wanted.code, "\(way): \(reason)")
                #expect(reason.message.contains(wanted.word), "\(way): \(reason)")
                #expect(reason.isPermanent == (wanted.code != .unresolved), "\(way)")
                break
            }
            client.stop()
            let said = lines.with { $0 }
            #expect(said.count == 1 && said.allSatisfy { $0.contains(": \(wanted.code.rawValue): ") }, "\(said)")
        }
    }

    @Test(
        "an address for browsers is one for WebSockets",
        arguments: [
            "https://a.example/ws?x=1": "wss://a.example/ws?x=1", "http://a:1/ws": "ws://a:1/ws",
            "WSS://a/ws": "wss://a/ws", "ftp://a/ws": "ftp://a/ws",
        ])
    func addresses(_ given: String, _ meant: String) throws {
        #expect(Engine.address(try #require(URL(string: given))).absoluteString == meant)
    }
}
