import Core
import Testing

@testable import Bridge

/// Several nodes that receive the same messages and marks, in one order.
@Suite struct BridgeBacklogTests {
    private let channel = Array("socket.io#/#shop:1#".utf8)

    private func mark(_ node: String, _ tag: String, done: String? = nil) -> BridgeMark {
        BridgeMark(node: Array(node.utf8), tag: Array(tag.utf8), done: done.map { Array($0.utf8) }, isYielding: false)
    }

    private func take(_ backlog: inout BridgeBacklog, nowMs: Int = 0) -> [BridgeBacklog.Entry] {
        var taken: [BridgeBacklog.Entry] = []
        while let entry = backlog.next(nowMs: nowMs, turn: taken.count) { taken.append(entry) }
        return taken
    }

    /// Gives a node a mark of any node, and returns how many messages are lost by it.
    @discardableResult private func tell(
        _ backlog: inout BridgeBacklog, _ told: BridgeMark, own: String, sentMs: Int = 0
    ) -> Int {
        backlog.mark(told, own: Array(own.utf8), sentMs: sentMs)
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func aMarkIsReadAsItIsWritten() {
        for done in [nil, "t0"] {
            let written = mark("n1", "t1", done: done)
            #expect(BridgeMark(written.payload) == written)
        }
        for wrong in ["", "n t -", "n t - keep x", "n  - keep", "n t\n - keep"] {
            #expect(BridgeMark(Array(wrong.utf8)) == nil, "\(wrong)")
        }
    }

    @Test func everyNodeNamesAMessageAlikeAndOnePublishesIt() {
        var holder = BridgeBacklog(bytesMax: 100_000)
        var other = BridgeBacklog(bytesMax: 100_000)
        // What comes before a mark has no name.
        let isTaken = holder.receive(channel, [9], nowMs: 0)
        #expect(isTaken && holder.count == 0 && !holder.isMarked)
        for tag in ["t1", "t2"] {
            tell(&holder, mark("a", tag), own: "a")
            tell(&other, mark("a", tag), own: "b")
            for number in UInt8(0)..<3 {
                _ = holder.receive(channel, [number], nowMs: 0)
                _ = other.receive(channel, [number], nowMs: 0)
            }
        }
        let first = take(&holder)
        #expect(first.map { text($0.id) } == ["t1.1", "t1.2", "t1.3", "t2.1", "t2.2", "t2.3"])
        let kept = take(&other)
        #expect(kept.isEmpty && other.count == 6)
        // The other one takes over: it publishes what it has kept, under the same names.
        tell(&other, mark("b", "t3"), own: "b")
        let again = take(&other)
        #expect(again.map { text($0.id) } == ["t1.1", "t1.2", "t1.3", "t2.1", "t2.2", "t2.3"])
        // The former one learns of it by the mark.
        tell(&holder, mark("b", "t3"), own: "a")
        _ = holder.receive(channel, [7], nowMs: 0)
        let late = take(&holder)
        #expect(!holder.isHolder && late.isEmpty)
    }

    @Test func whatIsPublishedIsForgottenEverywhere() {
        var holder = BridgeBacklog(bytesMax: 100_000)
        var other = BridgeBacklog(bytesMax: 100_000)
        func receive(_ number: UInt8) {
            _ = holder.receive(channel, [number], nowMs: 0)
            _ = other.receive(channel, [number], nowMs: 0)
        }
        func tellBoth(_ tag: String) {
            let told = BridgeMark(
                node: [UInt8(ascii: "a")], tag: Array(tag.utf8), done: holder.settledMark(), isYielding: false)
            tell(&holder, told, own: "a")
            tell(&other, told, own: "b")
        }
        tellBoth("t1")
        receive(1)
        receive(2)
        tellBoth("t2")
        receive(3)
        let entries = take(&holder)
        // The second one is still under way, so only what precedes the first mark is known to be done.
        holder.settle(entries[0].number, again: false)
        tellBoth("t3")
        #expect(other.count == 3)
        holder.settle(entries[1].number, again: false)
        tellBoth("t4")
        #expect(other.count == 1 && holder.count == 1)
        // One that failed is tried again, in its place.
        holder.settle(entries[2].number, again: true)
        let none = take(&holder)
        #expect(none.isEmpty)
        holder.retry()
        let again = take(&holder)
        #expect(again.map { text($0.id) } == ["t2.1"])
        holder.settle(again[0].number, again: false)
        tellBoth("t5")
        #expect(other.count == 0 && holder.count == 0)
    }

    @Test func aNodeWithoutItsLinkHasNoNamesUntilTheNextMark() {
        var backlog = BridgeBacklog(bytesMax: 100_000)
        tell(&backlog, mark("a", "t1"), own: "a")
        _ = backlog.receive(channel, [1], nowMs: 0)
        backlog.lost()
        let entry = backlog.next(nowMs: 0, turn: 0)
        #expect(!backlog.isHolder && !backlog.isMarked && entry == nil)
        _ = backlog.receive(channel, [2], nowMs: 0)
        tell(&backlog, mark("a", "t2"), own: "a")
        _ = backlog.receive(channel, [3], nowMs: 0)
        let taken = take(&backlog)
        #expect(taken.map { text($0.id) } == ["t1.1", "t2.1"])
    }

    @Test func roomAndTimeAreBounded() {
        // Three entries of 256 bytes, their message and their channel.
        let bytesMax = 3 * (256 + 1 + channel.count)
        var other = BridgeBacklog(bytesMax: bytesMax)
        tell(&other, mark("a", "t1"), own: "b")
        for number in UInt8(1)...5 {
            let isTaken = other.receive(channel, [number], nowMs: Int(number))
            #expect(isTaken)
        }
        #expect(other.count == 3, "the oldest are forgotten")
        tell(&other, mark("b", "t2"), own: "b")
        let isRoom = other.receive(channel, [6], nowMs: 6)
        #expect(!isRoom, "the node that publishes loses the newest")
        let entries = take(&other)
        #expect(entries.map { text($0.id) } == ["t1.3", "t1.4", "t1.5"])
        other.settle(entries[0].number, again: false)
        let lost = other.expire(beforeMs: 5)
        #expect(lost == 1, "one of the two had been published")
        let isTaken = other.receive(channel, [7], nowMs: 7)
        #expect(isTaken)
        // The end of what was forgotten meanwhile changes nothing.
        other.settle(entries[1].number, again: true)
        #expect(other.count == 2)
    }

    /// They took the room of their bytes until all before them were published, so one topic that waited lost others.
    @Test func whatIsSettledLeavesItsBytesToOthers() {
        var backlog = BridgeBacklog(bytesMax: 3_000)
        tell(&backlog, mark("a", "t1"), own: "a")
        let large = [UInt8](repeating: 1, count: 1_000)
        for _ in 0..<2 { _ = backlog.receive(channel, large, nowMs: 0) }
        let entries = take(&backlog)
        let isFull = !backlog.receive(channel, large, nowMs: 0)
        backlog.settle(entries[1].number, again: false)
        let isTaken = backlog.receive(channel, large, nowMs: 0)
        #expect(isFull && isTaken && entries[1].payload == large)
        backlog.settle(entries[0].number, again: true)
        backlog.retry()
        let again = take(&backlog)
        #expect(again.map(\.isRepeated) == [true, false] && again.map(\.payload) == [large, large])
    }

    /// The heir of a node had forgotten them, or nobody was there yet: they vanished from all figures.
    @Test func messagesThatNobodyPublishesAreCounted() {
        var heir = BridgeBacklog(bytesMax: 3 * (256 + 1 + channel.count))
        _ = heir.receive(channel, [0], nowMs: 0)
        #expect(tell(&heir, mark("a", "t1"), own: "b") == 0, "another node has it")
        for number in UInt8(1)...4 { _ = heir.receive(channel, [number], nowMs: 0) }
        tell(&heir, mark("a", "t2"), own: "b")
        #expect(tell(&heir, mark("b", "t3"), own: "b") == 1)
        #expect(tell(&heir, mark("b", "t4", done: "t3"), own: "b") == 0, "once")

        var told = BridgeBacklog(bytesMax: 3 * (256 + 1 + channel.count))
        tell(&told, mark("a", "t1"), own: "b")
        for number in UInt8(1)...4 { _ = told.receive(channel, [number], nowMs: 0) }
        tell(&told, mark("a", "t2"), own: "b")
        tell(&told, mark("a", "t3", done: "t2"), own: "b")
        #expect(tell(&told, mark("b", "t4"), own: "b") == 0, "the other node had published them")

        var first = BridgeBacklog(bytesMax: 3_000)
        _ = first.receive(channel, [0], nowMs: 0)
        #expect(tell(&first, mark("a", "t1"), own: "a") == 1, "nobody was there")
    }

    /// Ids are kept for some minutes: a node that stood still for longer published again what its heir had published.
    @Test func aNodeThatStoodStillPublishesNothingBeforeItsNextMark() {
        var backlog = BridgeBacklog(bytesMax: 3_000)
        tell(&backlog, mark("a", "t1"), own: "a", sentMs: 1_000)
        _ = backlog.receive(channel, [1], nowMs: 1_000)
        #expect(take(&backlog, nowMs: 6_000).count == 1)
        _ = backlog.receive(channel, [2], nowMs: 400_000)
        #expect(take(&backlog, nowMs: 400_000).isEmpty)
        // Its own mark of before, which it reads now, proves nothing; one that it sends now does.
        tell(&backlog, mark("a", "t2"), own: "a", sentMs: Int.min)
        #expect(take(&backlog, nowMs: 400_000).isEmpty)
        tell(&backlog, mark("a", "t3"), own: "a", sentMs: 400_000)
        #expect(take(&backlog, nowMs: 400_100).map { text($0.id) } == ["t1.2"])
    }

    @Test func onlySoManyAreUnderWay() {
        var backlog = BridgeBacklog(bytesMax: 10_000_000)
        tell(&backlog, mark("a", "t1"), own: "a")
        for _ in 0..<600 { _ = backlog.receive(channel, [1], nowMs: 0) }
        let first = take(&backlog)
        #expect(first.count == 512)
        backlog.settle(first[0].number, again: false)
        let more = take(&backlog)
        #expect(more.count == 1)
    }

    /// A node that took over a large backlog parsed up to 512 events in one turn of its loop, or all that were refused.
    @Test func aTurnOfTheLoopTakesABoundedPartOfALargeBacklog() {
        var backlog = BridgeBacklog(bytesMax: 10_000_000)
        tell(&backlog, mark("a", "t1"), own: "b")
        let payload = [UInt8](repeating: 1, count: 1_000)
        for _ in 0..<400 { _ = backlog.receive(channel, payload, nowMs: 0) }
        tell(&backlog, mark("b", "t2"), own: "b")
        let perTurn = (BridgeBacklog.turnBytesMax - 1) / (256 + payload.count + channel.count) + 1
        var names: [String] = []
        for turn in 0..<400 {
            var count = 0
            while let entry = backlog.next(nowMs: 0, turn: turn) {
                names.append(text(entry.id))
                // Those that are refused at once leave room among those under way, and none in the turn.
                backlog.settle(entry.number, again: false)
                count += 1
            }
            #expect(count <= perTurn && backlog.isTurnOver == (names.count < 400))
            if !backlog.isTurnOver { break }
        }
        #expect(names == (1...400).map { "t1.\($0)" })
        // One that is larger than a turn's bytes has a turn alone.
        let large = [UInt8](repeating: 1, count: 2 * BridgeBacklog.turnBytesMax)
        for _ in 0..<2 { _ = backlog.receive(channel, large, nowMs: 0) }
        #expect(backlog.next(nowMs: 0, turn: 1_000) != nil)
        #expect(backlog.next(nowMs: 0, turn: 1_000) == nil && backlog.isTurnOver)
        #expect(backlog.next(nowMs: 0, turn: 1_001) != nil)
        #expect(backlog.next(nowMs: 0, turn: 1_002) == nil && !backlog.isTurnOver)
    }
}
