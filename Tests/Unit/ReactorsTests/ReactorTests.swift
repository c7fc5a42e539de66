import Glibc
import Testing

@testable import Reactors

@Suite struct ReactorTests {
    @Test func aTickMakesItsPhasesInOrder() throws {
        let loop = try TestLoop()
        let (reactor, journal) = (loop.reactor, loop.journal)
        let pair = try SocketPair()
        let near = pair.near.raw
        let source = try loop.add("a", descriptor: near)
        source.onReady = { _ in
            drain(near)
            reactor.markDirty(source.token)
        }
        source.onFlush = { reactor.remove(source.token) }
        reactor.setDeadline(source.token, at: 0)
        reactor.onMailbox = { journal.note("mailbox") }
        reactor.onTickEnd = {
            journal.note("end")
            reactor.stop()
        }
        pair.poke()
        loop.wake.signal()
        try loop.run()
        #expect(journal.lines == ["mailbox", "a ready", "a deadline", "a flush", "a released", "end"])
        #expect(reactor.tick == 1)
        #expect(reactor.source(source.token) == nil)
    }

    @Test func nothingIsCalledAfterARemovalInTheSameTick() throws {
        let loop = try TestLoop()
        let (reactor, journal) = (loop.reactor, loop.journal)
        let one = try SocketPair()
        let two = try SocketPair()
        let (a, b) = (try loop.add("a", descriptor: one.near.raw), try loop.add("b", descriptor: two.near.raw))
        a.onReady = { _ in reactor.remove(b.token) }
        b.onReady = { _ in reactor.remove(a.token) }
        for source in [a, b] {
            reactor.markDirty(source.token)
            reactor.setDeadline(source.token, at: 0)
        }
        one.poke()
        two.poke()
        reactor.onTickEnd = { reactor.stop() }
        try loop.run()
        // Whichever came first removed the other, which is not called again but for its release.
        #expect(
            journal.lines == ["a ready", "a deadline", "a flush", "b released"]
                || journal.lines == ["b ready", "b deadline", "b flush", "a released"])
    }

    @Test(arguments: ["ready", "deadline", "flush"])
    func aSourceMayRemoveItselfInAnyCallback(_ callback: String) throws {
        let loop = try TestLoop()
        let reactor = loop.reactor
        let pair = try SocketPair()
        let source = try loop.add("a", descriptor: pair.near.raw)
        let remove = {
            reactor.remove(source.token)
            reactor.remove(source.token)
        }
        switch callback {
        case "ready": source.onReady = { _ in remove() }
        case "deadline": source.onDeadline = remove
        default: source.onFlush = remove
        }
        source.onReleased = { reactor.stop() }
        reactor.markDirty(source.token)
        reactor.setDeadline(source.token, at: 0)
        pair.poke()
        try loop.run()
        #expect(loop.journal.lines.last == "a released")
        #expect(loop.journal.lines.dropLast().last == "a \(callback)")
        #expect(loop.journal.lines.count { $0 == "a released" } == 1)
    }

    @Test func aRemovalWhileFreeingIsFreedInTheSameTick() throws {
        let loop = try TestLoop()
        let reactor = loop.reactor
        let (a, b) = (try loop.add("a"), try loop.add("b"))
        a.onReleased = { reactor.remove(b.token) }
        reactor.remove(a.token)
        reactor.onTickEnd = { reactor.stop() }
        try loop.run()
        #expect(loop.journal.lines == ["a released", "b released"])
    }

    @Test func aStaleTokenDoesNotReachTheNewOwnerOfItsSlot() throws {
        let loop = try TestLoop()
        let (reactor, journal) = (loop.reactor, loop.journal)
        let one = try SocketPair()
        let two = try SocketPair()
        let old = try loop.add("old", descriptor: one.near.raw)
        reactor.setDeadline(old.token, at: reactor.nowMs + 20)
        let secondDescriptor = two.near.raw
        var successor: Recorder?
        old.onReleased = {
            let recorder = Recorder("new", journal)
            guard let token = try? reactor.add(recorder, descriptor: secondDescriptor, interest: .read) else { return }
            recorder.token = token
            successor = recorder
            reactor.markDirty(old.token)
            reactor.markReadable(old.token)
            reactor.setDeadline(old.token, at: 0)
            reactor.setInterest(old.token, [])
            reactor.remove(old.token)
        }
        reactor.markReadable(old.token)
        reactor.markDirty(old.token)
        reactor.remove(old.token)
        // A deadline of another source well after the old one's shows that the old one's entry has passed.
        let last = try loop.add("last")
        last.onDeadline = { reactor.stop() }
        reactor.setDeadline(last.token, at: reactor.nowMs + 60)
        try loop.run()
        let new = try #require(successor)
        #expect(new.token.slot == old.token.slot)
        #expect(new.token != old.token)
        #expect(reactor.source(old.token) == nil)
        #expect(reactor.source(new.token) === new)
        #expect(journal.lines == ["old released", "last deadline"])
    }

    @Test func whatIsMarkedWhileFlushingWaitsForTheNextTick() throws {
        let loop = try TestLoop()
        let reactor = loop.reactor
        let (a, b) = (try loop.add("a"), try loop.add("b"))
        var ticks: [Int] = []
        a.onFlush = {
            ticks.append(reactor.tick)
            reactor.markDirty(b.token)
            if ticks.count == 1 { reactor.markDirty(a.token) }
        }
        b.onFlush = { ticks.append(reactor.tick * 10) }
        reactor.markDirty(a.token)
        reactor.markDirty(a.token)
        reactor.onTickEnd = { if reactor.tick == 3 { reactor.stop() } }
        try loop.run()
        #expect(ticks == [1, 20, 2, 30] || ticks == [1, 2, 20, 30])
    }

    @Test func markedReadableComesOnceInTheNextTickWithoutTheKernel() throws {
        let loop = try TestLoop()
        let reactor = loop.reactor
        let source = try loop.add("a")
        var ticks: [Int] = []
        source.onReady = { readiness in
            #expect(readiness == .read)
            ticks.append(reactor.tick)
            if ticks.count == 1 { reactor.markReadable(source.token) }
        }
        reactor.markReadable(source.token)
        reactor.markReadable(source.token)
        loop.stop(afterTicks: 4)
        try loop.run()
        #expect(ticks == [1, 2])
    }

    @Test func lateWorkComesBehindTheFlushesAndOnceForEachMark() throws {
        let loop = try TestLoop()
        let (reactor, journal) = (loop.reactor, loop.journal)
        let (slow, other) = (try loop.add("slow"), try loop.add("other"))
        var ticks: [Int] = []
        slow.onReady = { _ in
            reactor.markLate(slow.token)
            reactor.markLate(slow.token)
        }
        slow.onLate = {
            ticks.append(reactor.tick)
            if ticks.count == 1 { reactor.markLate(slow.token) } else { reactor.remove(slow.token) }
        }
        other.onReady = { _ in reactor.markDirty(other.token) }
        reactor.markReadable(slow.token)
        reactor.markReadable(other.token)
        loop.stop(afterTicks: 4)
        try loop.run()
        #expect(ticks == [1, 2])
        #expect(
            journal.lines == ["slow ready", "other ready", "other flush", "slow late", "slow late", "slow released"])
    }

    @Test func aRemovedSourceHasNoLateTurn() throws {
        let loop = try TestLoop()
        let source = try loop.add("a")
        source.onReady = { _ in
            loop.reactor.markLate(source.token)
            loop.reactor.remove(source.token)
        }
        loop.reactor.markReadable(source.token)
        loop.stop(afterTicks: 2)
        try loop.run()
        #expect(loop.journal.lines == ["a ready", "a released"])
    }

    @Test func interestDecidesWhatIsHeard() throws {
        let loop = try TestLoop()
        let reactor = loop.reactor
        let pair = try SocketPair()
        let near = pair.near.raw
        let source = try loop.add("a", descriptor: near, interest: [])
        var heard: [Readiness] = []
        source.onReady = { readiness in
            heard.append(readiness)
            if readiness.contains(.read) { drain(near) }
            reactor.setInterest(source.token, heard.count == 1 ? .read : [])
        }
        pair.poke()
        let tickBefore = 3
        reactor.onTickEnd = {
            loop.wake.signal()
            if reactor.tick == tickBefore { reactor.setInterest(source.token, .write) }
            if reactor.tick == tickBefore + 5 { reactor.stop() }
        }
        loop.wake.signal()
        try loop.run()
        #expect(heard == [.write, .read])
    }

    @Test func aHangUpIsHeardWithoutInterest() throws {
        let loop = try TestLoop()
        let reactor = loop.reactor
        let near: FileDescriptor
        do {
            var pair: SocketPair? = try SocketPair()
            near = FileDescriptor(owning: try retrying { dup(pair?.near.raw ?? -1) })
            pair = nil
        }
        let source = try loop.add("a", descriptor: near.raw, interest: [])
        source.onReady = { readiness in
            #expect(readiness.contains(.failed))
            reactor.stop()
        }
        try loop.run()
        #expect(loop.journal.lines == ["a ready"])
    }

    @Test func aDescriptorThatCannotBeWatchedIsAnErrorAndKeepsNoSlot() throws {
        let loop = try TestLoop()
        #expect(throws: Errno(code: EBADF)) { try loop.add("a", descriptor: -1) }
        let first = try loop.add("b")
        #expect(throws: Errno(code: EBADF)) { try loop.add("c", descriptor: 1_000_000) }
        #expect(try loop.add("d").token.slot == first.token.slot + 1)
    }

    @Test func statisticsCountTicks() throws {
        let loop = try TestLoop()
        loop.stop(afterTicks: 5)
        try loop.run()
        #expect(loop.reactor.statistics.ticks.value == 5)
        #expect(loop.reactor.statistics.durations.counts.reduce(0, +) == 5)
        #expect(loop.reactor.statistics.lastTickMs.value <= Clock.monotonicMs())
    }

    @Test func theAlarmRingsOnceAtItsMillisecond() throws {
        let loop = try TestLoop()
        let (reactor, journal) = (loop.reactor, loop.journal)
        let startMs = Clock.monotonicMs()
        reactor.alarmMs = startMs + 20
        reactor.onAlarm = {
            journal.note("alarm")
            #expect(reactor.nowMs >= startMs + 20)
            #expect(reactor.alarmMs == Int.max, "it may be set again from here")
            reactor.stop()
        }
        try loop.run()
        #expect(journal.lines == ["alarm"])
    }
}
