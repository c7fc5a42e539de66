import RedisLink
import Testing

@Suite struct PushMessageTests {
    static func text(_ text: String) -> RESPValue { .string(bytes(text)) }

    static let rows: [(RESPValue, PushMessage)] = [
        (
            .array([text("message"), text("shop:42"), text("{}")]),
            .message(channel: bytes("shop:42"), payload: bytes("{}"))
        ),
        (.array([text("smessage"), text("shop:42"), text("")]), .message(channel: bytes("shop:42"), payload: [])),
        (
            .array([text("pmessage"), text("__key*"), text("__keyspace@0__:k"), text("set")]),
            .patternMessage(pattern: bytes("__key*"), channel: bytes("__keyspace@0__:k"), payload: bytes("set"))
        ),
        (.array([text("subscribe"), text("a"), .integer(3)]), .subscribed(channel: bytes("a"), count: 3)),
        (.array([text("ssubscribe"), text("a"), .integer(1)]), .subscribed(channel: bytes("a"), count: 1)),
        (.array([text("unsubscribe"), text("a"), .integer(0)]), .unsubscribed(channel: bytes("a"), count: 0)),
        (.array([text("sunsubscribe"), text("a"), .integer(0)]), .unsubscribed(channel: bytes("a"), count: 0)),
        (.array([text("unsubscribe"), .null, .integer(0)]), .unsubscribed(channel: nil, count: 0)),
        (.array([text("psubscribe"), text("a*"), .integer(2)]), .patternSubscribed(pattern: bytes("a*"), count: 2)),
        (.array([text("punsubscribe"), .null, .integer(0)]), .patternUnsubscribed(pattern: nil, count: 0)),
        (.array([text("pong"), text("x")]), .pong(bytes("x"))),
        (.status(bytes("PONG")), .pong([])),
        (.error(bytes("NOAUTH x")), .failure(RedisFailure(reply: bytes("NOAUTH x")))),
    ]

    static let strange: [RESPValue] = [
        .null, .integer(1), text("message"), .status(bytes("OK")), .array([]), .array([text("message")]),
        .array([text("message"), text("a")]), .array([text("message"), text("a"), .integer(1)]),
        .array([text("message"), .null, text("a")]), .array([text("message"), text("a"), text("b"), text("c")]),
        .array([text("pmessage"), text("a"), text("b")]), .array([.status(bytes("message")), text("a"), text("b")]),
        .array([text("subscribe"), .null, .integer(1)]), .array([text("subscribe"), text("a"), text("1")]),
        .array([text("subscribe"), text("a"), .integer(-1)]), .array([text("subscribe"), .integer(1), .integer(1)]),
        .array([text("SUBSCRIBE"), text("a"), .integer(1)]), .array([text("something"), text("a"), .integer(1)]),
        .array([text("pong")]), .array([text("pong"), .integer(1)]),
        .array([.array([text("message")]), text("a"), text("b")]),
    ]

    @Test(arguments: rows.indices)
    func aPushIsReadAsWhatItIs(_ index: Int) {
        #expect(PushMessage(PushMessageTests.rows[index].0) == PushMessageTests.rows[index].1)
    }

    @Test(arguments: strange)
    func anythingElseIsKeptAsItCame(_ value: RESPValue) {
        #expect(PushMessage(value) == .other(value))
    }
}
