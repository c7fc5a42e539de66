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
            .opened(
                .user, name: Fixture.bytes("ann"), address: IPAddress(10, 0, 0, 1), dialect: Fixture.bytes("x"),
                sinceMs: 7),
            .opened(.anonymous, name: [], address: nil, dialect: [], sinceMs: 0),
            .named(Fixture.bytes("ann")),
            .subscribed(topic, at: at, since: since, isRecovered: true, isFollowed: false),
            .subscribed(topic, at: at, since: nil, isRecovered: false, isFollowed: true),
            .left(topic, handed: at), .left(topic, handed: nil),
            .refused(topic, code: Fixture.bytes("forbidden"), message: Fixture.bytes("no")),
            .withdrawn(topic, code: Fixture.bytes("forbidden"), message: Fixture.bytes("no more")),
            .conflated(topic, epoch: Fixture.bytes("a"), [1...1, 3...1_000_000], isWhole: false),
            .gap(topic, from: at, to: since, isReset: false), .gap(topic, from: nil, to: since, isReset: true),
            .unsent(topic, at), .token(Fixture.bytes("token_expired")), .excludes,
            .closed(.slowConsumer), .full,
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

    @Test(arguments: [0, 65_536]) func openSessionsAreCountedWhateverIsKept(bytesMax: Int) throws {
        let recorder = Recorder(bytesMax: bytesMax)
        let sessions = (0..<3).map { recorder.open("user\($0)") }
        #expect(recorder.trace.openCount == 3)
        for session in sessions.dropLast() { recorder.end(session) }
        #expect(recorder.trace.openCount == 1)
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
        recorder.erase("ann")
        #expect(recorder.entries.map(\.session) == [bob, bob])
        #expect(recorder.closed(TraceSearch.Filter(user: Fixture.bytes("ann"))).isEmpty)
        // Entries behind the erased ones are still found.
        recorder.end(bob, of: "bob")
        #expect(recorder.entries.last?.change == .closed(.normal))
    }

    /// A client that subscribes in a loop would push all others out of the record.
    @Test func oneSessionFillsNoRecord() throws {
        let recorder = Recorder()
        let session = recorder.open("ann")
        for _ in 0..<10_000 { recorder.note(.left(try Fixture.topic(), handed: nil), of: session) }
        recorder.end(session)
        let entries = recorder.entries
        #expect(entries.count == Int(TraceAllowance.changesMax) + 2)
        #expect(entries.dropLast().last?.change == .full && entries.last?.change == .closed(.normal))
        #expect(recorder.sessions(of: "ann", on: try Fixture.topic()).map(\.isFull) == [true])
    }

    /// The topics that a session left by its end were not noted once it had changed often.
    @Test func theEndOfABusySessionIsNotedWithItsTopics() throws {
        let recorder = Recorder()
        let (session, topic) = (recorder.open("ann"), try Fixture.topic())
        try recorder.subscribe(session, topic, at: "a:5")
        for _ in 0..<1_000 { recorder.note(.left(try Fixture.topic("shop:1"), handed: nil), of: session) }
        recorder.end(session, .timeout)
        recorder.note(.left(topic, handed: try Fixture.position("a:7")), of: session)
        let end = recorder.sessions(of: "ann", on: topic).first?.stays.first?.end
        let handed = try Fixture.position("a:7")
        #expect(end?.cause == .closed(.timeout) && end?.handed == handed)
    }

    /// A session of a day had no changes left after its first 250.
    @Test func anAllowanceIsWholeAgainInTheNextPeriod() throws {
        let recorder = Recorder(keepMs: 60_000)
        let session = recorder.open("ann")
        for _ in 0..<1_000 { recorder.note(.left(try Fixture.topic(), handed: nil), of: session) }
        recorder.nowMs += 60_000
        recorder.note(.excludes, of: session)
        #expect(recorder.entries.map(\.change) == [.excludes])
    }

    /// Each refusal has up to 400 bytes of text, so that 250 of them were 100 kB for one client.
    @Test func aClientThatIsRefusedInALoopHasFewEntries() throws {
        let recorder = Recorder()
        let session = recorder.open("ann")
        for _ in 0..<100 {
            recorder.note(.refused(try Fixture.topic(), code: [], message: []), of: session)
            recorder.note(.token(Fixture.bytes("token_expired")), of: session)
        }
        recorder.note(.left(try Fixture.topic(), handed: nil), of: session)
        #expect(recorder.entries.count == 1 + Int(TraceAllowance.refusalsMax) + 1)
    }

    /// The name of a session was gone before its end, and nobody found it.
    @Test func aSessionOlderThanTheRecordIsFoundByItsUserOnceItHasEnded() throws {
        let recorder = Recorder(keepMs: 60_000)
        let (session, topic) = (recorder.open("ann"), try Fixture.topic())
        try recorder.subscribe(session, topic, at: "a:5")
        recorder.nowMs += 300_000
        recorder.end(session)
        recorder.note(.left(topic, handed: try Fixture.position("a:9")), of: session)
        recorder.nowMs += 59_000
        let found = recorder.sessions(of: "ann", on: topic)
        #expect(found.map(\.openedMs) == [1_000] && found.map(\.address) == [IPAddress(192, 0, 2, 1)])
        #expect(recorder.closed(TraceSearch.Filter(user: Fixture.bytes("ann"))).count == 1)
        // A short session is not named twice.
        recorder.end(recorder.open("bob"), of: "bob", since: recorder.nowMs)
        #expect(recorder.entries.suffix(2).map(\.change.kind) == [.opened, .closed])
    }

    /// An open session whose name is too old was found, and what the record knows of it was not.
    @Test func anOpenSessionOlderThanTheRecordKeepsItsHistory() throws {
        let recorder = Recorder(keepMs: 60_000)
        let (session, topic) = (recorder.open("ann"), try Fixture.topic())
        recorder.nowMs += 300_000
        let ranges = [6...7]
        recorder.note(.conflated(topic, epoch: Fixture.bytes("a"), ranges, isWhole: true), of: session)
        var search = recorder.trace.search(TraceSearch.Filter(user: Fixture.bytes("ann")), about: topic, limit: 5)
        search.add(open: session, isAbout: true)
        var found: [TracedSession]?
        while found == nil { found = search.step() }
        #expect(found?.first?.stays.first?.conflated.map(\.ranges) == [ranges] && search.total == 1)
    }

    /// The gaps of all members were given to the subscriptions that the record had seen begin.
    @Test func aGapForAllMembersConcernsThoseWhoseBeginningIsTooOld() throws {
        let recorder = Recorder()
        let (topic, session) = (try Fixture.topic(), recorder.open("ann"))
        recorder.trace.gap(
            topic, from: try Fixture.position("a:6"), to: try Fixture.position("a:8"), isReset: false)
        var search = recorder.trace.search(TraceSearch.Filter(user: Fixture.bytes("ann")), about: topic, limit: 5)
        var found: [TracedSession]?
        while found == nil { found = search.step() }
        var traced = try #require(found?.first)
        let standing = TopicStay.Standing(handed: try Fixture.position("a:9"), waiting: nil)
        traced.stands(standing, on: topic, gaps: search.gaps)
        #expect(traced.number == session && traced.stays.count == 1)
        #expect(traced.stays[0].fate(of: try Fixture.position("a:7")).word == .gap)
        // One that left before is known by its end alone.
        recorder.note(.left(topic, handed: try Fixture.position("a:9")), of: session)
        let left = try #require(recorder.sessions(of: "ann", on: topic).first?.stays.first)
        #expect(left.fate(of: try Fixture.position("a:7")).word == .gap)
    }

    /// The newest 50 sessions hid an older one that was subscribed.
    @Test func sessionsWithoutTheTopicHideNoneThatHadIt() throws {
        let recorder = Recorder()
        let (session, topic) = (recorder.open("ann"), try Fixture.topic())
        try recorder.subscribe(session, topic, at: "a:5")
        for _ in 0..<20 { _ = recorder.open("ann") }
        let found = recorder.sessions(of: "ann", on: topic, limit: 3)
        #expect(found.map(\.number) == [session, 20, 21])
    }

    // MARK: Bounds

    /// An operator who looks at a gateway that nobody could reach for an erasure.
    @Test func whatNoErasureReachedEndsByItself() throws {
        let recorder = Recorder(keepMs: 60_000)
        for _ in 0..<6 {
            _ = recorder.open("ann")
            recorder.nowMs += 1_000
        }
        recorder.nowMs += 59_000
        #expect(recorder.entries.isEmpty)
        // Bytes are freed by the end of the block, a sixth of the time later.
        recorder.nowMs += 10_000
        recorder.trace.sweep()
        #expect(recorder.trace.byteCount == 0)
    }

    /// Each step of an erasure looks at one block, and entries come and go meanwhile.
    @Test func anErasureInStepsMissesNothing() throws {
        let recorder = Recorder(bytesMax: 32_768)
        for number in 0..<600 { _ = recorder.open(number % 2 == 0 ? "ann" : "bob") }
        let own = recorder.entries.last?.session
        var (erasure, steps) = (TraceErasure(user: Fixture.bytes("ann"), open: []), 0)
        while !erasure.step(recorder.trace) {
            steps += 1
            for _ in 0..<20 { _ = recorder.open("eve") }
        }
        #expect(steps > recorder.trace.ring.blockCount && steps < 100 && own != nil)
        let names = recorder.entries.compactMap { entry -> [UInt8]? in
            if case .opened(_, let name, _, _, _) = entry.change { name } else { nil }
        }
        #expect(names.contains(Fixture.bytes("eve")) && !names.contains(Fixture.bytes("ann")))
    }

    /// The record names an open session no more, and its later entries stayed.
    @Test func anErasureFindsOpenSessionsOlderThanTheRecord() throws {
        let recorder = Recorder(keepMs: 60_000)
        let session = recorder.open("ann")
        recorder.nowMs += 300_000
        recorder.note(.left(try Fixture.topic(), handed: nil), of: session)
        recorder.erase("ann", open: [session])
        #expect(recorder.entries.isEmpty)
    }

    /// Questions that wait for their turn each held the blocks that the record had dropped since.
    @Test func aSearchThatWaitsHoldsNothingOfTheRecord() throws {
        let recorder = Recorder(bytesMax: 32_768)
        _ = recorder.open("ann")
        var waiting = recorder.trace.search(TraceSearch.Filter(user: Fixture.bytes("ann")), limit: 5)
        for _ in 0..<2_000 { _ = recorder.open("eve") }
        var found: [TracedSession]?
        while found == nil { found = waiting.step() }
        #expect(found?.isEmpty == true)
    }

    /// A client that is slow on purpose makes gaps and conflations in a loop, and a question folds all of them.
    @Test func aFoldIsBoundedForEachSession() throws {
        var fold = SessionFold(about: try Fixture.topic())
        let (topic, at) = (try Fixture.topic(), try Fixture.position("a:5"))
        for number in 0..<1_000 {
            let change: TraceEntry.Change =
                number % 2 == 0
                ? .subscribed(topic, at: at, since: nil, isRecovered: false, isFollowed: false)
                : .gap(topic, from: at, to: at, isReset: false)
            fold.take(TraceEntry(session: 1, atMs: number, change))
            fold.take(TraceEntry(session: 0, atMs: number, .gap(topic, from: at, to: at, isReset: false)))
        }
        let session = try #require(fold.sessions.first)
        #expect(session.stays.count == 64 && fold.gaps.count == 64 && session.isFull)
        #expect(session.stays.allSatisfy { $0.gaps.count <= 64 })
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
            recorder.end(session, .timeout, since: recorder.nowMs)
        }
        func found(_ filter: TraceSearch.Filter, limit: Int = 10) -> [UInt32] {
            recorder.closed(filter, limit: limit).map(\.number)
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
        recorder.end(open, since: recorder.nowMs)
        #expect(found(TraceSearch.Filter()) == sessions + [open])
        let first = try #require(recorder.closed().first)
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
        var found = search.step()
        while found == nil {
            for number in 0..<500 { _ = recorder.open("eve\(number)") }
            found = search.step()
        }
        #expect(found?.map(\.number) == wanted)
    }
}
