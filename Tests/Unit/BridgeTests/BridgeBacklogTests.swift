import Core
import Testing

@testable import Bridge

/// Several nodes that receive the same messages and marks, in one order.
@Suite struct BridgeBacklogTests {
    private let channel = Array("socket.io#/#shop:1#".utf8)

    private func mark(_ node: String, _ tag: String, done: String? = nil) -> BridgeMark {
        BridgeMark(node: Array(node.utf8), tag: Array(tag.utf8), done: done.map { Array($0.utf8) }, isYielding: false)
    }

    private func take(_ backlog: inout BridgeBacklog) -> [BridgeBacklog.Entry] {
        var taken: [BridgeBacklog.Entry] = []
        while let entry = backlog.next() { taken.append(entry) }
        return taken
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
            holder.mark(mark("a", tag), own: [UInt8(ascii: "a")])
            other.mark(mark("a", tag), own: [UInt8(ascii: "b")])
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
        other.mark(mark("b", "t3"), own: [UInt8(ascii: "b")])
        let again = take(&other)
        #expect(again.map { text($0.id) } == ["t1.1", "t1.2", "t1.3", "t2.1", "t2.2", "t2.3"])
        // The former one learns of it by the mark.
        holder.mark(mark("b", "t3"), own: [UInt8(ascii: "a")])
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
        func tell(_ tag: String) {
            let told = BridgeMark(
                node: [UInt8(ascii: "a")], tag: Array(tag.utf8), done: holder.settledMark(), isYielding: false)
            holder.mark(told, own: [UInt8(ascii: "a")])
            other.mark(told, own: [UInt8(ascii: "b")])
        }
        tell("t1")
        receive(1)
        receive(2)
        tell("t2")
        receive(3)
        let entries = take(&holder)
        // The second one is still under way, so only what precedes the first mark is known to be done.
        holder.settle(entries[0].number, again: false)
        tell("t3")
        #expect(other.count == 3)
        holder.settle(entries[1].number, again: false)
        tell("t4")
        #expect(other.count == 1 && holder.count == 1)
        // One that failed is tried again, in its place.
        holder.settle(entries[2].number, again: true)
        let none = take(&holder)
        #expect(none.isEmpty)
        holder.retry()
        let again = take(&holder)
        #expect(again.map { text($0.id) } == ["t2.1"])
        holder.settle(again[0].number, again: false)
        tell("t5")
        #expect(other.count == 0 && holder.count == 0)
    }

    @Test func aNodeWithoutItsLinkHasNoNamesUntilTheNextMark() {
        var backlog = BridgeBacklog(bytesMax: 100_000)
        backlog.mark(mark("a", "t1"), own: [UInt8(ascii: "a")])
        _ = backlog.receive(channel, [1], nowMs: 0)
        backlog.lost()
        let entry = backlog.next()
        #expect(!backlog.isHolder && !backlog.isMarked && entry == nil)
        _ = backlog.receive(channel, [2], nowMs: 0)
        backlog.mark(mark("a", "t2"), own: [UInt8(ascii: "a")])
        _ = backlog.receive(channel, [3], nowMs: 0)
        let taken = take(&backlog)
        #expect(taken.map { text($0.id) } == ["t1.1", "t2.1"])
    }

    @Test func roomAndTimeAreBounded() {
        // Three entries of 256 bytes, their message and their channel.
        let bytesMax = 3 * (256 + 1 + channel.count)
        var other = BridgeBacklog(bytesMax: bytesMax)
        other.mark(mark("a", "t1"), own: [UInt8(ascii: "b")])
        for number in UInt8(1)...5 {
            let isTaken = other.receive(channel, [number], nowMs: Int(number))
            #expect(isTaken)
        }
        #expect(other.count == 3, "the oldest are forgotten")
        other.mark(mark("b", "t2"), own: [UInt8(ascii: "b")])
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

    @Test func onlySoManyAreUnderWay() {
        var backlog = BridgeBacklog(bytesMax: 10_000_000)
        backlog.mark(mark("a", "t1"), own: [UInt8(ascii: "a")])
        for _ in 0..<600 { _ = backlog.receive(channel, [1], nowMs: 0) }
        let first = take(&backlog)
        #expect(first.count == 512)
        backlog.settle(first[0].number, again: false)
        let more = take(&backlog)
        #expect(more.count == 1)
    }
}
