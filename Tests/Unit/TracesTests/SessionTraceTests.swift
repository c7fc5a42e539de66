import Core
import TestSupport
import Testing

@testable import Traces

/// The record of a shard: its bounds in bytes and time, erasure, and values from hostile clients.
@Suite struct SessionTraceTests {
    /// One change of each kind.
    private func changes() throws -> [TraceEntry.Change] {
        let (topic, at, since) = (try Fixture.topic(), try Fixture.position("a:7"), try Fixture.position("a:300"))
        return [
            .opened(.user, name: Fixture.bytes("ann"), address: IPAddress(10, 0, 0, 1), dialect: Fixture.bytes("x")),
            .opened(.anonymous, name: [], address: nil, dialect: []),
            .named(Fixture.bytes("ann")),
            .subscribed(topic, at: at, since: since, isRecovered: true, isFollowed: false),
            .subscribed(topic, at: at, since: nil, isRecovered: false, isFollowed: true),
            .left(topic, handed: at), .left(topic, handed: nil),
            .refused(topic, code: Fixture.bytes("forbidden"), message: Fixture.bytes("no")),
            .withdrawn(topic, code: Fixture.bytes("forbidden"), message: Fixture.bytes("no more")),
            .conflated(topic, epoch: Fixture.bytes("a"), [1...1, 3...1_000_000], isWhole: false),
            .gap(topic, from: at, to: since, isReset: false), .gap(topic, from: nil, to: since, isReset: true),
            .unsent(topic, at), .token(Fixture.bytes("token_expired")), .closed(.slowConsumer), .full,
        ]
    }

    @Test func everyChangeIsReadAsItWasWritten() throws {
        let recorder = Recorder()
        let changes = try changes()
        for (index, change) in changes.enumerated() {
            recorder.nowMs += 1
            recorder.note(change, of: UInt32(index + 1))
        }
        #expect(recorder.entries.map(\.change) == changes)
        #expect(recorder.entries.map(\.session) == changes.indices.map { UInt32($0 + 1) })
        #expect(recorder.entries.map(\.atMs) == changes.indices.map { 1_001 + $0 })
    }

    @Test func moreBytesThanAllowedDropTheOldestEntries() throws {
        let recorder = Recorder(bytesMax: 32_768)
        var last: UInt32 = 0
        for number in 0..<10_000 {
            recorder.nowMs += 1
            last = recorder.open("user\(number)")
            #expect(recorder.trace.byteCount <= 32_768)
        }
        let entries = recorder.entries
        #expect(entries.last?.session == last && entries.count > 300 && entries.count < 1_500)
        // From then on nothing is missing, and the first entry is newer.
        #expect(recorder.trace.sinceMs > 1_000)
        #expect(entries.allSatisfy { $0.atMs >= recorder.trace.sinceMs })
        #expect(entries.count >= recorder.nowMs - recorder.trace.sinceMs)
    }

    @Test func entriesEndWithTheirTime() throws {
        let recorder = Recorder(keepMs: 60_000)
        _ = recorder.open("ann")
        recorder.nowMs += 59_999
        #expect(recorder.entries.count == 1)
        recorder.nowMs += 1
        #expect(recorder.entries.isEmpty)
        #expect(recorder.trace.byteCount > 0)
        recorder.trace.sweep()
        #expect(recorder.trace.byteCount == 0)
    }

    /// A block that is written to now and then would keep its first entry for long.
    @Test func aQuietRecordFreesTheBytesOfOldEntries() throws {
        let recorder = Recorder(keepMs: 60_000)
        for _ in 0..<100 {
            _ = recorder.open("ann")
            recorder.nowMs += 5_000
            recorder.trace.sweep()
            #expect(recorder.trace.byteCount <= 8 * 8_192)
        }
        #expect(recorder.entries.count == 11)
    }

    @Test func aRecordOfNoBytesKeepsNothingAndStillNumbersSessions() throws {
        let recorder = Recorder(bytesMax: 0)
        #expect(recorder.open("ann") == 1)
        #expect(recorder.open("bob") == 2)
        #expect(recorder.entries.isEmpty && !recorder.trace.isOn && recorder.trace.byteCount == 0)
    }

    @Test func anErasureLeavesNothingOfTheUser() throws {
        let recorder = Recorder()
        let (ann, bob) = (recorder.open("ann"), recorder.open("bob"))
        let late = recorder.trace.opened(.anonymous, name: [], address: nil, dialect: [])
        recorder.note(.named(Fixture.bytes("ann")), of: late)
        let own = try Fixture.topic("user:ann")
        for session in [ann, bob, late] {
            recorder.note(.left(try Fixture.topic(), handed: nil), of: session)
            recorder.note(.left(own, handed: nil), of: session)
        }
        recorder.trace.erase(user: Fixture.bytes("ann"))
        #expect(recorder.entries.map(\.session) == [bob, bob])
        #expect(recorder.trace.closed(TraceSearch.Filter(user: Fixture.bytes("ann")), limit: 10).isEmpty)
        // Entries behind the erased ones are still found.
        recorder.trace.ended(.closed(.normal), of: bob)
        #expect(recorder.entries.last?.change == .closed(.normal))
    }

    /// A client that subscribes in a loop would push all others out of the record.
    @Test func oneSessionFillsNoRecord() throws {
        let recorder = Recorder()
        let session = recorder.open("ann")
        for _ in 0..<10_000 { recorder.note(.left(try Fixture.topic(), handed: nil), of: session) }
        recorder.trace.ended(.closed(.normal), of: session)
        let entries = recorder.entries
        #expect(entries.count == Int(SessionTrace.changesMax) + 2)
        #expect(entries.dropLast().last?.change == .full && entries.last?.change == .closed(.normal))
        let told = recorder.trace.sessions(of: Fixture.bytes("ann"), on: try Fixture.topic(), limit: 5)
        #expect(told.map(\.isFull) == [true])
    }

    @Test func hostileValuesAreCutAndNeverTrap() throws {
        let recorder = Recorder()
        let long = [UInt8](repeating: 0xff, count: 100_000)
        let topic = try Fixture.topic("a:" + String(repeating: "x", count: 200))
        let far = try #require(Position(epoch: [UInt8](repeating: 0x61, count: 32), offset: Int.max))
        let session = recorder.trace.opened(.user, name: long, address: nil, dialect: long)
        recorder.note(.refused(topic, code: long, message: long), of: session)
        recorder.note(.subscribed(topic, at: far, since: far, isRecovered: true, isFollowed: true), of: session)
        let ranges = (0..<1_000).map { $0 * 2...$0 * 2 } + [Int.max...Int.max]
        recorder.note(.conflated(topic, epoch: long, ranges, isWhole: true), of: session)
        #expect(recorder.entries.count == 4)
        for case .refused(_, let code, let message) in recorder.entries.map(\.change) {
            #expect(code.count == 255 && message.count == TraceEntry.textBytesMax)
        }
        for case .conflated(_, _, let ranges, _) in recorder.entries.map(\.change) {
            #expect(ranges.count == TraceEntry.rangesMax)
        }
        #expect(
            recorder.entries[2].change
                == .subscribed(topic, at: far, since: far, isRecovered: true, isFollowed: true))
    }

    /// Bytes that a fault has spoilt are no entry, and never a trap.
    @Test func spoiltContentIsNoEntry() throws {
        var random = Seeded(7)
        for change in try changes() {
            var writer = TraceWriter(bytes: [])
            change.append(to: &writer)
            for count in writer.bytes.indices {
                _ = TraceEntry.Change(change.kind, writer.bytes[..<count])
            }
            for _ in 0..<200 where !writer.bytes.isEmpty {
                var spoilt = writer.bytes
                spoilt[Int.random(in: spoilt.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
                _ = TraceEntry.Change(change.kind, spoilt[...])
            }
        }
    }

    @Test func closedSessionsAreFoundByUserAddressAndTopic() throws {
        let recorder = Recorder()
        let (here, there) = (IPAddress(192, 0, 2, 1), IPAddress(192, 0, 2, 2))
        let sessions = [("ann", here), ("ann", there), ("bob", here)].map { recorder.open($0.0, address: $0.1) }
        for (session, topic) in zip(sessions, ["shop:1", "shop:2", "shop:1"]) {
            recorder.note(
                .subscribed(
                    try Fixture.topic(topic), at: try Fixture.position("a:1"), since: nil, isRecovered: false,
                    isFollowed: false), of: session)
        }
        let open = recorder.open("ann", address: here)
        for session in sessions {
            recorder.nowMs += 10
            recorder.trace.ended(.closed(.timeout), of: session)
        }
        func found(_ filter: TraceSearch.Filter, limit: Int = 10) -> [UInt32] {
            recorder.trace.closed(filter, limit: limit).map(\.number)
        }
        #expect(found(TraceSearch.Filter()) == sessions && open == 4)
        #expect(found(TraceSearch.Filter(), limit: 2) == Array(sessions.suffix(2)))
        #expect(found(TraceSearch.Filter(), limit: 0).isEmpty)
        #expect(found(TraceSearch.Filter(user: Fixture.bytes("ann"))) == [1, 2])
        #expect(found(TraceSearch.Filter(address: here)) == [1, 3])
        #expect(found(TraceSearch.Filter(topic: try Fixture.topic("shop:1"))) == [1, 3])
        #expect(found(TraceSearch.Filter(user: Fixture.bytes("ann"), address: here)) == [1])
        #expect(found(TraceSearch.Filter(user: Fixture.bytes("an"))).isEmpty)
        // The number of all does not depend on how many are wanted.
        for limit in [0, 1, 2, 10] {
            for (user, count) in [(nil, 3), (Fixture.bytes("ann"), 2)] {
                var search = recorder.trace.search(TraceSearch.Filter(user: user, isClosedOnly: true), limit: limit)
                var found: [TracedSession]?
                while found == nil { found = search.step() }
                #expect(search.total == count && found?.count == min(limit, count))
            }
        }
        // The order is that of the ends, not of the beginnings.
        recorder.trace.ended(.closed(.normal), of: open)
        #expect(found(TraceSearch.Filter()) == sessions + [open])
        let first = try #require(recorder.trace.closed(TraceSearch.Filter(), limit: 10).first)
        #expect(first.closed == TracedSession.Closing(atMs: 1_010, reason: .timeout) && first.address == here)
        #expect(first.dialect == "native" && first.openedMs == 1_000 && first.stays.count == 1)
    }

    /// A search reads the record of its beginning, while entries come and go.
    @Test func aSearchIsNotDisturbedByWhatComesMeanwhile() throws {
        let recorder = Recorder(bytesMax: 32_768)
        var wanted: [UInt32] = []
        for number in 0..<200 {
            let session = recorder.open(number % 10 == 0 ? "ann" : "bob")
            if number % 10 == 0 { wanted.append(session) }
        }
        var search = recorder.trace.search(TraceSearch.Filter(user: Fixture.bytes("ann")), limit: 100)
        var found: [TracedSession]?
        while found == nil {
            for number in 0..<500 { _ = recorder.open("eve\(number)") }
            found = search.step()
        }
        #expect(found?.map(\.number) == wanted)
    }
}
