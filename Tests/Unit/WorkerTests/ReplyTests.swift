import Commands
import Core
import RedisLink
import Testing

@testable import Worker

/// What Redis answers is untrusted.
@Suite struct ReplyTests {
    private func bulk(_ texts: String...) -> RESPValue { .array(texts.map { .string(Array($0.utf8)) }) }

    @Test func leases() {
        let reply = LeaseTable.Reply(.array([bulk("a", "b"), bulk("0", "17", "64", "18")]))
        #expect(reply == LeaseTable.Reply(workers: [[97], [98]], tokens: [0: 17, 64: 18]))
        for wrong: RESPValue in [
            .null, .integer(1), .array([]), .array([bulk(), bulk("0")]), .array([bulk(), bulk("x", "1")]),
            .array([bulk(), bulk("1", "-1")]), .array([.null, bulk()]), .array([bulk(), .integer(3)]),
        ] {
            #expect(LeaseTable.Reply(wrong) == nil)
        }
    }

    /// A partition that does not exist is not worked on, and nothing traps.
    @Test func partitionsBeyondTheLastAreIgnored() {
        var book = LeaseTable(name: [97], leaseMs: 1_000)
        _ = book.ask(nowMs: 0)
        let change = book.replied(LeaseTable.Reply(workers: [[97]], tokens: [3: 1, 65: 2, 255: 3]))
        #expect(change.gained == [3])
    }

    private func entry(
        _ fields: String..., stream: OutboxStream = OutboxStream(slot: 0, lane: 0, isFollowUp: false),
        isTagged: Bool = false
    ) -> OutboxEntry? {
        OutboxEntry(
            .array([.string(Array("17-3".utf8)), .array(fields.map { .string(Array($0.utf8)) })]), stream: stream,
            isTagged: isTagged)
    }

    @Test func entries() throws {
        let topic = try #require(Topic("user:1"))
        let event = try #require(EventName("note"))
        #expect(entry("t", "user:1", "e", "note", "d", "{}")?.items == [.event(topic, event, data: Array("{}".utf8))])
        #expect(entry("c", "vote", "a", "{}")?.items == [.call(command: "vote", arguments: Array("{}".utf8))])
        #expect(entry("c", "vote", "a", "{}")?.parts.first?.operation?.bytes == Array("o:17-3".utf8))
        for wrong in [
            entry(), entry("t"), entry("c", "vote"), entry("t", "user", "e", "note", "d", "{}"),
            entry("t", "user:1", "e", "no note", "d", "{}"), entry("t", "user:1", "e", "note"),
            entry("m", "", "e", "note", "d", "{}"), entry("m", "user:1", "e", "note"),
            entry("m", "user:1 user:2", "e", "note", "d", "{}{}", "l", "2"),
            entry("m", "user:1 user:2", "e", "note", "d", "{}{}", "l", "2 3"),
            entry("m", "user:1", "e", "note", "d", "{}", "l", "-2"), entry("t", "user:1", "u", "bob", "x", "ban"),
        ] {
            guard case .unreadable = wrong?.items.first else {
                Issue.record("\(String(describing: wrong)) was read")
                continue
            }
        }
        let stream = OutboxStream(slot: 0, lane: 0, isFollowUp: false)
        for wrong in [.null, .array([.string([]), .array([])]), .array([.string(Array("1-1".utf8)), .null])]
            as [RESPValue]
        {
            #expect(OutboxEntry(wrong, stream: stream, isTagged: false) == nil)
        }
        #expect(entry("c", "vote", "a", "{}")?.payer == [])
        #expect(entry("p", "user:ann", "c", "vote", "a", "{}")?.payer == Array("user:ann".utf8))
        #expect(entry("p", String(repeating: "x", count: 9_000), "c", "vote", "a", "{}")?.payer.count == 256)
    }

    @Test func anEntryOfSeveralTopicsIsAPartForEach() throws {
        let topics = [try #require(Topic("user:1")), try #require(Topic("user:2"))]
        let event = try #require(EventName("note"))
        let shared = try #require(entry("m", "user:1 user:2", "e", "note", "d", "{}"))
        #expect(shared.items == topics.map { .event($0, event, data: Array("{}".utf8)) })
        #expect(shared.parts.map { $0.operation?.bytes } == ["o:17-3:0", "o:17-3:1"].map { Array($0.utf8) })
        let own = try #require(entry("m", "user:1 user:2", "e", "note", "d", "{}{\"a\":1}", "l", "2 7"))
        #expect(own.items[1] == .event(topics[1], event, data: Array("{\"a\":1}".utf8)))
        #expect(
            own.parts[1].fields.map { String(decoding: $0, as: UTF8.self) } == [
                "t", "user:2", "e", "note", "d", "{\"a\":1}",
            ])
    }

    /// Two streams may have entries of one id: neither is taken for the other.
    @Test func entriesOfTwoStreamsAreApart() throws {
        var names: Set<[UInt8]> = []
        for slot in [5, 7] {
            for stream in OutboxStream.all(of: slot) {
                let read = entry("m", "user:1 user:2", "e", "note", "d", "{}", stream: stream, isTagged: true)
                names.formUnion(try #require(read).parts.compactMap { $0.operation?.bytes })
            }
        }
        #expect(names.count == 2 * 2 * 2 * OutboxStream.lanes)
        for stream in OutboxStream.all(of: 0) {
            let read = entry("c", "vote", "a", "{}", stream: stream)
            names.formUnion(try #require(read).parts.compactMap { $0.operation?.bytes })
        }
        #expect(names.contains(Array("o:5.17-3:0".utf8)) && names.contains(Array("o:5.3.n.17-3:1".utf8)))
        #expect(names.contains(Array("o:17-3".utf8)) && names.contains(Array("o:n.17-3".utf8)))
    }

    /// What scripts cannot write themselves, since it lies in another slot.
    @Test func callsAndNotesOfOtherSlotsAreRead() throws {
        let topic = try #require(Topic("user:1"))
        #expect(
            entry("t", "user:1", "u", "bob", "x", "removed")?.items == [.member(topic, user: [98, 111, 98], .note)])
        let call = ["i", "77", "r", "{}", "c", "done", "a", "{}"]
        #expect(
            entry("o", "spotify", "i", "77", "r", "{}", "c", "done", "a", "{}")?.items
                == [.callOut(service: "spotify", call.map { Array($0.utf8) })])
        for wrong in [
            entry("o", "spotify"), entry("o", "", "i", "7", "r", "{}", "c", "x", "a", "{}"),
            entry("o", "a:b", "i", "7", "r", "{}", "c", "x", "a", "{}"),
            entry("o", "a", "r", "{}", "c", "x", "a", "{}"),
        ] {
            guard case .unreadable = wrong?.items.first else {
                Issue.record("\(String(describing: wrong)) was read")
                continue
            }
        }
    }

    /// Such an entry was logged, and every gateway then left it out: its subscribers had a hole that no repair fills.
    @Test(arguments: ["gap", "subscribed", "error"])
    func anEntryUnderAWordOfTheGatewaysIsUnreadable(_ name: String) {
        guard case .unreadable = entry("t", "user:1", "e", name, "d", "{}")?.items.first else {
            Issue.record("\(name) was read")
            return
        }
    }

    /// The log had the beginning of what an entry carried: notifications, places, names.
    @Test func theLogIsToldWhatAnEntryIsForAndNotWhatItCarries() {
        let long = entry("c", "a\u{0}\u{1b}é" + String(repeating: "y", count: 1_000), "a", "{}")
        #expect(long?.parts.first?.subject.utf8.count == 200 && long?.parts.first?.subject.hasPrefix("a????yy") == true)
        let event = entry("t", "user:u1", "e", "notification", "d", "{\"body\":\"secret\"}")
        #expect(event?.parts.first?.subject == "user:u1" && event?.parts.first?.byteCount == 39)
        #expect(entry("x", "secret")?.parts.first?.subject == "unreadable")
    }
}
