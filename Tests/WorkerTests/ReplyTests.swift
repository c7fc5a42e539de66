import Core
import RedisLink
import Testing

@testable import Worker

/// What Redis answers is untrusted.
@Suite struct ReplyTests {
    private func bulk(_ texts: String...) -> RESPValue { .array(texts.map { .string(Array($0.utf8)) }) }

    @Test func leases() {
        let reply = LeaseBook.Reply(.array([bulk("a", "b"), bulk("0", "17", "64", "18")]))
        #expect(reply == LeaseBook.Reply(workers: [[97], [98]], tokens: [0: 17, 64: 18]))
        for wrong: RESPValue in [
            .null, .integer(1), .array([]), .array([bulk(), bulk("0")]), .array([bulk(), bulk("x", "1")]),
            .array([bulk(), bulk("1", "-1")]), .array([.null, bulk()]), .array([bulk(), .integer(3)]),
        ] {
            #expect(LeaseBook.Reply(wrong) == nil)
        }
    }

    /// A partition that does not exist is not worked on, and nothing traps.
    @Test func partitionsBeyondTheLastAreIgnored() {
        var book = LeaseBook(name: [97], leaseMs: 1_000)
        _ = book.ask(nowMs: 0)
        let change = book.replied(LeaseBook.Reply(workers: [[97]], tokens: [3: 1, 65: 2, 255: 3]))
        #expect(change.gained == [3])
    }

    private func entry(_ fields: String...) -> OutboxEntry? {
        OutboxEntry(
            .array([.string(Array("17-3".utf8)), .array(fields.map { .string(Array($0.utf8)) })]))
    }

    @Test func entries() throws {
        let topic = try #require(Topic("user:1"))
        let event = try #require(EventName("note"))
        #expect(entry("t", "user:1", "e", "note", "d", "{}")?.item == .event(topic, event, data: Array("{}".utf8)))
        #expect(entry("c", "vote", "a", "{}")?.item == .call(command: "vote", arguments: Array("{}".utf8)))
        #expect(entry("c", "vote", "a", "{}")?.operation?.bytes == Array("o:17-3".utf8))
        for wrong in [
            entry(), entry("t"), entry("c", "vote"), entry("t", "user", "e", "note", "d", "{}"),
            entry("t", "user:1", "e", "no note", "d", "{}"), entry("t", "user:1", "e", "note"),
        ] {
            guard case .unreadable = wrong?.item else {
                Issue.record("\(String(describing: wrong)) was read")
                continue
            }
        }
        #expect(OutboxEntry(.null) == nil)
        #expect(OutboxEntry(.array([.string([]), .array([])])) == nil)
        #expect(OutboxEntry(.array([.string(Array("1-1".utf8)), .null])) == nil)
    }

    /// Such an entry was logged, and every gateway then left it out: its subscribers had a hole that no repair fills.
    @Test(arguments: ["gap", "subscribed", "error"])
    func anEntryUnderAWordOfTheGatewaysIsUnreadable(_ name: String) {
        guard case .unreadable = entry("t", "user:1", "e", name, "d", "{}")?.item else {
            Issue.record("\(name) was read")
            return
        }
    }

    /// The log had the beginning of what an entry carried: notifications, places, names.
    @Test func theLogIsToldWhatAnEntryIsForAndNotWhatItCarries() {
        let long = entry("c", "a\u{0}\u{1b}é" + String(repeating: "y", count: 1_000), "a", "{}")
        #expect(long?.subject.utf8.count == 200 && long?.subject.hasPrefix("a????yy") == true)
        let event = entry("t", "user:u1", "e", "notification", "d", "{\"body\":\"secret\"}")
        #expect(event?.subject == "user:u1" && event?.byteCount == 39)
        #expect(entry("x", "secret")?.subject == "unreadable")
    }
}
