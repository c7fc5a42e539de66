import Foundation
import Testing

@testable import SwitchboardClient

/// What holds the machine: the outbox's file, the buffers, the values on screen, a whole client over a transport.
struct RunningTests {
    private static func entry(_ id: String) -> OutboxEntry {
        OutboxEntry(
            id: id, event: "vote", topic: nil, body: "{}", user: "ada", lane: "default", isRepeatable: false,
            createdAtMs: 0, expiresAtMs: 1, firstSentAtMs: nil)
    }

    @Test("an outbox's file survives a torn end, and keeps order")
    func file() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "outbox-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: url) }
        let file = OutboxFile(url)
        #expect(try file.load().isEmpty)
        for id in ["a", "b", "c"] { try file.store(RunningTests.entry(id)) }
        var sent = RunningTests.entry("a")
        sent.firstSentAtMs = 5
        try file.store(sent)
        try file.remove("b")
        let whole = try Data(contentsOf: url)
        try whole.dropLast(7).write(to: url)
        let again = OutboxFile(url)
        #expect(try again.load().map(\.id) == ["a", "b", "c"], "the removal was torn")
        try again.store(RunningTests.entry("d"))
        let entries = try OutboxFile(url).load()
        #expect(entries.map(\.id) == ["a", "b", "c", "d"])
        #expect(entries.first?.firstSentAtMs == 5)
        for _ in 0..<600 { try again.store(RunningTests.entry("d")) }
        #expect(try Data(contentsOf: url).count < 100_000)
    }

    /// They were dropped without a word, and the file was written anew without them.
    @Test("damaged records in the middle of an outbox are kept aside and told")
    func damaged() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "outbox-\(UUID().uuidString)")
        let aside = url.appendingPathExtension("damaged")
        defer { for file in [url, aside] { try? FileManager.default.removeItem(at: file) } }
        let file = OutboxFile(url)
        _ = try file.load()
        for id in ["a", "b", "c"] {
            var entry = RunningTests.entry(id)
            entry.expiresAtMs = 4_000_000_000_000
            try file.store(entry)
        }
        var lines = try Data(contentsOf: url).split(separator: 10).map { Data($0) }
        lines[1][lines[1].count / 2] ^= 1
        try Data(lines.joined(separator: [10])).write(to: url)
        let faults = Locked<[String]>([])
        var options = SwitchboardClient.Options()
        options.storage = OutboxFile(url)
        options.fault = { text in faults.with { $0.append(text) } }
        let client = SwitchboardClient(url: URL(filePath: "/"), options: options, transport: Echo())
        client.start()
        #expect(client.pendingCalls.map(\.id) == ["a", "c"])
        client.stop()
        let told = faults.with { $0 }
        #expect(told.count == 1 && told.allSatisfy { $0.contains(aside.path) }, "\(told)")
        #expect(try Data(contentsOf: aside) == lines[1] + [10])
        let again = OutboxFile(url)
        #expect(try again.load().map(\.id) == ["a", "c"] && again.damage == nil)
    }

    @Test("a guess is kept by its answer, and taken back by an error")
    func optimistic() async throws {
        let votes = Optimistic(10)
        _ = try await votes.perform({ $0 += 1 }, by: { #expect(votes.value == 11) })
        #expect(votes.value == 11)
        votes.set(server: 11)
        #expect(votes.value == 11)
        // The event comes before the answer.
        _ = try await votes.perform({ $0 = 12 }, isIn: { $0 >= 12 }, by: { votes.set(server: 12) })
        #expect(votes.value == 12)
        await #expect(throws: SwitchboardError.self) {
            try await votes.perform({ $0 += 100 }, by: { throw SwitchboardError(.offline) })
        }
        #expect(votes.value == 12)
    }

    /// A gateway that answers in the same breath.
    private final class Echo: SwitchboardTransport, SwitchboardSocket {
        let events = Locked<(@Sendable (SocketEvent) -> Void)?>(nil)
        let said = Locked<[String]>([])

        func open(_: SocketRequest, events: @escaping @Sendable (SocketEvent) -> Void) -> any SwitchboardSocket {
            self.events.with { $0 = events }
            events(.opened)
            return self
        }

        func send(_ text: String) {
            said.with { $0.append(text) }
            guard let frame = JSONReader.read(text), let ref = frame["ref"]?.text else { return }
            let data = #"{"topic":"a:b","epoch":"k","offset":1,"recovered":false,"state":{"n":1}}"#
            let answer =
                switch frame["event"]?.string {
                case "subscribe": #"{"event":"subscribed","topic":"a:b","data":\#(data),"ref":\#(ref)}"#
                default: #"{"event":"ack","data":{"n":2},"ref":\#(ref)}"#
                }
            events.with { $0 }?(.text(answer))
        }

        func close(code: Int) { events.with { $0 }?(.closed(code: code, httpStatus: nil, message: "")) }
    }

    private struct Counted: Codable, Sendable, Equatable { var n: Int }

    @Test("a client joins, calls, and ends its sequences when it stops")
    func client() async throws {
        let client = SwitchboardClient(url: URL(filePath: "/"), transport: Echo())
        #expect(try await client.state(of: "a:b", as: Counted.self) == Counted(n: 1))
        #expect(try await client.call("vote", ["a": "b"], returning: Counted.self) == Counted(n: 2))
        await #expect(throws: SwitchboardError.self) { try await client.call("vote", [1], id: "not a name") }
        #expect(client.currentStatus.phase == .open)
        var updates = client.events(of: "a:b").makeAsyncIterator()
        #expect(try await updates.next() != nil)
        let status = client.status
        client.stop()
        #expect(try await updates.next() == nil)
        var statuses = status.makeAsyncIterator()
        #expect(await statuses.next()?.phase == .stopped)
        await #expect(throws: SwitchboardError.self) { try await client.call("vote", [1]) }
    }

    /// A storage that takes a call, and then no word about its sending.
    private final class Stubborn: OutboxStorage {
        let calls = Locked(0)
        let removes: Bool
        init(removes: Bool) { self.removes = removes }
        func load() -> [OutboxEntry] { [] }
        func remove(_: String) throws {
            if !removes { throw CocoaError(.fileWriteOutOfSpace) }
        }
        func store(_ entry: OutboxEntry) throws {
            calls.with { $0 += 1 }
            if entry.firstSentAtMs != nil { throw CocoaError(.fileWriteOutOfSpace) }
        }
    }

    /// An entry that cannot be removed either would be sent by a restart, though its caller was told that it was not sent.
    @Test("a call that cannot be marked as sent is not sent", arguments: [true, false])
    func unmarked(_ removes: Bool) async throws {
        let echo = Echo()
        var options = SwitchboardClient.Options()
        options.storage = Stubborn(removes: removes)
        options.fault = { _ in }
        let client = SwitchboardClient(url: URL(filePath: "/"), options: options, transport: echo)
        do {
            try await client.call("vote", [1], options: .kept())
            Issue.record("it was done")
        } catch {
            #expect(error.code == (removes ? .storage : .uncertain))
        }
        #expect(echo.said.with { $0 }.isEmpty)
        try await client.call("vote", [1])
        #expect(echo.said.with { $0.count } == 1)
    }

    @Test("a reader that is cancelled, or dropped, is gone")
    func cancelled() async throws {
        let client = SwitchboardClient(url: URL(filePath: "/"), transport: Echo())
        let task = Task { for try await _ in client.events(of: "a:b") {} }
        for await status in client.status where status.isReady { break }
        task.cancel()
        try await task.value
        #expect(client.engine.state.with { $0.readers.isEmpty && $0.statusReaders.isEmpty })
    }

    @Test("a client that nobody holds goes away, with its timer")
    func leaks() async throws {
        weak var engine: Engine?
        do {
            let client = SwitchboardClient(url: URL(filePath: "/"), transport: Echo())
            try await client.call("vote", [1])
            engine = client.engine
            #expect(engine != nil)
        }
        #expect(engine == nil)
    }
}
