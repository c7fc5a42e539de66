import Core
import Dialects
import Testing

/// What clients send that must be refused, and that the answer says what to mend.
@Suite struct NativeRefusalTests {
    /// A refused message and a word its answer must contain.
    struct Case: Sendable, CustomTestStringConvertible {
        let text: String
        let names: String

        init(_ text: String, _ names: String) {
            self.text = text
            self.names = names
        }

        var testDescription: String { text }
    }

    private static func subscribe(_ data: String) -> String { "{\"event\":\"subscribe\",\"data\":\(data),\"ref\":9}" }
    private static func since(_ since: String) -> String { subscribe("{\"topic\":\"shop:42\",\"since\":\(since)}") }
    private static func publish(_ data: String) -> String {
        "{\"event\":\"publish\",\"topic\":\"session:7\",\"data\":\(data),\"ref\":9}"
    }

    @Test(arguments: [
        Case("", "not valid JSON"), Case("hello", "not valid JSON"), Case("{", "not valid JSON"),
        Case("{\"event\":\"ping\"}{}", "not valid JSON"),
        Case("{\"event\":\"ping\",}", "not valid JSON"), Case("\0", "not valid JSON"),
        Case("42[\"a\"]", "not valid JSON"),
        Case("[]", "one JSON object"), Case("\"ping\"", "one JSON object"), Case("1", "one JSON object"),
        Case("null", "one JSON object"),
        Case("[\"1\",\"1\",\"realtime:r\",\"phx_join\",{}]", "one JSON object"),
        Case("{\"event\":\"ping\",\"event\":\"ping\"}", "twice"),
        Case("{\"event\":\"x\",\"data\":{\"a\":1,\"\\u0061\":2}}", "twice"),
    ])
    func whatIsNoMessageIsRefusedWithoutReference(_ refused: Case) throws {
        let answer = try Native.refusal(refused.text)
        #expect(answer.refusal.code == .badRequest)
        #expect(answer.refusal.message.contains(refused.names), "\(answer.refusal.message)")
        #expect(answer.ref == nil)
        #expect(answer.close == nil)
    }

    @Test(arguments: [
        // Envelope.
        Case("{\"ref\":9}", "\"event\" is missing"), Case("{\"event\":null,\"ref\":9}", "\"event\" is missing"),
        Case("{\"event\":1,\"ref\":9}", "\"event\""),
        Case("{\"event\":\"\",\"ref\":9}", "\"event\""), Case("{\"event\":\"a b\",\"ref\":9}", "\"event\""),
        Case("{\"event\":{},\"ref\":9}", "\"event\""),
        Case("{\"event\":\"\(String(repeating: "e", count: 65))\",\"ref\":9}", "\"event\""),
        Case("{\"event\":\"é\",\"ref\":9}", "\"event\""),
        Case("{\"event\":\"vote\",\"data\":[],\"ref\":9}", "\"data\""),
        Case("{\"event\":\"ping\",\"data\":\"x\",\"ref\":9}", "\"data\""),
        Case("{\"event\":\"vote\",\"data\":1,\"ref\":9}", "\"data\""),
        Case("{\"event\":\"queue:update\",\"topic\":\"shop:42\",\"data\":{},\"ref\":9}", "\"topic\""),
        // Authenticate.
        Case("{\"event\":\"authenticate\",\"ref\":9}", "token"),
        Case("{\"event\":\"authenticate\",\"data\":{},\"ref\":9}", "token"),
        Case("{\"event\":\"authenticate\",\"data\":{\"token\":1},\"ref\":9}", "token"),
        Case("{\"event\":\"authenticate\",\"data\":{\"token\":null},\"ref\":9}", "token"),
        Case("{\"event\":\"authenticate\",\"token\":\"t\",\"ref\":9}", "token"),
        // Topics.
        Case("{\"event\":\"subscribe\",\"ref\":9}", "no topic"),
        Case("{\"event\":\"unsubscribe\",\"ref\":9}", "unsubscribe names no topic"),
        Case(subscribe("{}"), "no topic"), Case(subscribe("{\"id\":\"42\"}"), "no topic"),
        Case(subscribe("{\"Id\":\"42\"}"), "no topic"),
        Case(subscribe("{\"topic\":42}"), "namespace:id"), Case(subscribe("{\"topic\":\"shop\"}"), "namespace:id"),
        Case(subscribe("{\"topic\":\"\"}"), "namespace:id"),
        Case(subscribe("{\"topic\":\"Shop:42\"}"), "namespace:id"),
        Case(subscribe("{\"topic\":\"shop:a#log\"}"), "namespace:id"),
        Case(subscribe("{\"topic\":\"shop:\\u0000\"}"), "namespace:id"),
        Case(subscribe("{\"topic\":\"__keyspace@0__:x\"}"), "namespace:id"),
        Case(subscribe("{\"topic\":[\"shop:42\"]}"), "namespace:id"),
        Case("{\"event\":\"subscribe\",\"topic\":\"x\",\"ref\":9}", "namespace:id"),
        Case(subscribe("{\"shopId\":\"\"}"), "\"shopId\""), Case(subscribe("{\"shopId\":\"a b\"}"), "\"shopId\""),
        Case(subscribe("{\"shopId\":1.5}"), "\"shopId\""),
        Case(subscribe("{\"shopId\":1e3}"), "\"shopId\""),
        Case(subscribe("{\"shopId\":99999999999999999999}"), "\"shopId\""),
        Case(subscribe("{\"shopId\":true}"), "\"shopId\""), Case(subscribe("{\"shopId\":{}}"), "\"shopId\""),
        Case(subscribe("{\"shopId\":\"{a}\"}"), "\"shopId\""),
        Case(subscribe("{\"shopId\":\"\(String(repeating: "x", count: 201))\"}"), "\"shopId\""),
        Case(subscribe("{\"topic\":\"shop:42\",\"shopId\":\"43\"}"), "more than one topic"),
        Case(subscribe("{\"topic\":\"shop:42\",\"shopId\":{}}"), "\"shopId\""),
        Case(subscribe("{\"shopId\":\"42\",\"userId\":\"u1\"}"), "more than one topic"),
        Case(
            "{\"event\":\"subscribe\",\"topic\":\"shop:1\",\"data\":{\"topic\":\"shop:2\"},\"ref\":9}",
            "more than one topic"),
        Case(
            "{\"event\":\"subscribe\",\"topic\":\"shop:1\",\"data\":{\"shopId\":\"2\"},\"ref\":9}",
            "more than one topic"),
        // Batches.
        Case(subscribe("{\"topics\":\"shop:42\"}"), "array"), Case(subscribe("{\"topics\":{}}"), "array"),
        Case(subscribe("{\"topics\":[]}"), "empty"),
        Case(subscribe("{\"topics\":[1]}"), "strings"), Case(subscribe("{\"topics\":[null]}"), "strings"),
        Case(subscribe("{\"topics\":[[\"shop:42\"]]}"), "strings"),
        Case(subscribe("{\"topics\":[{}]}"), "no topic"), Case(subscribe("{\"topics\":[\"shop\"]}"), "namespace:id"),
        Case(subscribe("{\"topics\":[\"shop:42\",\"shop:42\"]}"), "twice"),
        Case(subscribe("{\"topics\":[\"shop:42\",{\"shopId\":42}]}"), "twice"),
        Case(subscribe("{\"topics\":[\"shop:42\"],\"topic\":\"shop:42\"}"), "either"),
        Case(subscribe("{\"topics\":[\"shop:42\"],\"shopId\":\"42\"}"), "either"),
        Case(subscribe("{\"topics\":[\"shop:42\"],\"since\":{\"epoch\":\"a\",\"offset\":1}}"), "elements"),
        Case(
            subscribe("{\"topics\":[{\"topic\":\"shop:42\",\"since\":{\"epoch\":\"a\",\"offset\":-1}}]}"),
            "since.offset"),
        Case(
            "{\"event\":\"subscribe\",\"topic\":\"shop:42\",\"since\":{\"epoch\":\"a\",\"offset\":1},\"ref\":9}",
            "\"since\""),
        // Positions: never a partial range.
        Case(since("12"), "\"since\""), Case(since("\"k3x9:12\""), "\"since\""), Case(since("[]"), "\"since\""),
        Case(since("true"), "\"since\""),
        Case(since("{}"), "since.epoch"), Case(since("{\"offset\":12}"), "since.epoch"),
        Case(since("{\"epoch\":null,\"offset\":12}"), "since.epoch"),
        Case(since("{\"epoch\":1,\"offset\":12}"), "since.epoch"),
        Case(since("{\"epoch\":\"\",\"offset\":12}"), "since.epoch"),
        Case(since("{\"epoch\":\"a b\",\"offset\":12}"), "since.epoch"),
        Case(since("{\"epoch\":\"\(String(repeating: "e", count: 33))\",\"offset\":1}"), "since.epoch"),
        Case(since("{\"epoch\":\"a\"}"), "since.offset"),
        Case(since("{\"epoch\":\"a\",\"offset\":null}"), "since.offset"),
        Case(since("{\"epoch\":\"a\",\"offset\":-1}"), "since.offset"),
        Case(since("{\"epoch\":\"a\",\"offset\":-0}"), "since.offset"),
        Case(since("{\"epoch\":\"a\",\"offset\":1.0}"), "since.offset"),
        Case(since("{\"epoch\":\"a\",\"offset\":1e2}"), "since.offset"),
        Case(since("{\"epoch\":\"a\",\"offset\":\"12\"}"), "since.offset"),
        Case(since("{\"epoch\":\"a\",\"offset\":9223372036854775808}"), "since.offset"),
        Case(since("{\"epoch\":\"a\",\"offset\":[1]}"), "since.offset"),
        // Publish.
        Case("{\"event\":\"publish\",\"ref\":9}", "publish"),
        Case("{\"event\":\"publish\",\"data\":{\"event\":\"e\"},\"ref\":9}", "no topic"),
        Case(publish("{}"), "data.event"),
        Case(publish("{\"event\":1}"), "data.event"), Case(publish("{\"event\":\"a b\"}"), "data.event"),
        Case(publish("{\"event\":\"gap\"}"), "keeps for itself"),
        Case(publish("{\"event\":\"token:expiring\"}"), "keeps for itself"),
        Case(publish("{\"event\":\"err\\u006fr\"}"), "keeps for itself"),
        Case(publish("{\"event\":\"e\",\"data\":[]}"), "data.data"),
        Case(publish("{\"event\":\"e\",\"data\":\"x\"}"), "data.data"),
        Case(publish("{\"event\":\"e\",\"id\":1}"), "data.id"),
        Case(publish("{\"event\":\"e\",\"id\":\"\"}"), "data.id"),
        Case(publish("{\"event\":\"e\",\"id\":\"-\"}"), "data.id"),
        Case(publish("{\"event\":\"e\",\"id\":\"a#b\"}"), "data.id"),
        Case(publish("{\"event\":\"e\",\"id\":\"\(String(repeating: "i", count: 129))\"}"), "data.id"),
        Case(publish("{\"event\":\"e\",\"sessionId\":\"8\"}"), "more than one topic"),
    ])
    func malformedRequestsKeepTheirReference(_ refused: Case) throws {
        let answer = try Native.refusal(refused.text)
        #expect(answer.refusal.code == .badRequest)
        #expect(answer.refusal.message.contains(refused.names), "\(answer.refusal.message)")
        #expect(answer.ref == (try Native.reference("9")))
        #expect(answer.close == nil)
    }

    @Test(arguments: [
        "true", "{}", "[1]", "\"\(String(repeating: "r", count: 63))\"", String(repeating: "1", count: 65),
    ])
    func badReferencesAreNotEchoed(_ ref: String) throws {
        let answer = try Native.refusal("{\"event\":\"ping\",\"ref\":\(ref)}")
        #expect(answer.refusal.code == .badRequest)
        #expect(answer.refusal.message.contains("\"ref\""))
        #expect(answer.ref == nil)
    }

    @Test func limitsAreTooLargeAndNameTheFigure() throws {
        let batch = try Native.refusal(NativeRefusalTests.subscribe("{\"topics\":[\"a:1\",\"a:2\",\"a:3\",\"a:4\"]}"))
        #expect(batch.refusal.code == .tooLarge && batch.refusal.message.contains("3"))
        #expect(batch.ref != nil)
        let depth = try Native.refusal(String(repeating: "[", count: 9) + String(repeating: "]", count: 9))
        #expect(depth.refusal.code == .tooLarge && depth.refusal.message.contains("8 levels"))
        let many = try Native.refusal("[" + Array(repeating: "1", count: 200).joined(separator: ",") + "]")
        #expect(many.refusal.code == .tooLarge && many.refusal.message.contains("200 values"))
    }

    @Test func bytesThatAreNoTextAreExplained() throws {
        for kind in [MessageKind.text, .binary] {
            guard case .failure(let answer) = Native.dialect.decode([0x22, 0xff, 0x22], as: kind) else {
                Issue.record("understood")
                continue
            }
            #expect(answer.refusal.code == .badRequest && answer.refusal.message.contains("UTF-8"))
            #expect(answer.refusal.message.contains("binary") == (kind == .binary) && answer.close == nil)
        }
    }

    @Test func answersNeverRepeatWhatWasSent() throws {
        let canary = "\\u003cscript\\u003e-canary"
        for text in [
            "{\"event\":\"canary canary\"}", NativeRefusalTests.subscribe("{\"topic\":\"\(canary)\"}"),
            NativeRefusalTests.subscribe("{\"shopId\":\"\(canary) \"}"),
            NativeRefusalTests.since("{\"epoch\":\"canary!\"}"),
            NativeRefusalTests.publish("{\"event\":\"e\",\"id\":\"canary!\"}"),
        ] {
            #expect(!(try Native.refusal(text)).refusal.message.contains("canary"), "\(text)")
        }
    }
}
