import Core
import TestSupport
import Testing

@testable import Push

/// What reaches the device, always whole JSON of at most 4,096 bytes.
@Suite struct PushPayloadTests {
    private func text(_ content: PushContent, badge: Int = 3, silently: Bool = false) -> String {
        String(decoding: PushPayload.text(content, badge: badge, silently: silently), as: UTF8.self)
    }

    @Test func aNotificationWithItsData() throws {
        #expect(
            text(try Fixture.content(data: #"{"bookingId":"b1"}"#))
                == #"{"aps":{"alert":{"title":"Ready","body":"Come in"},"#
                + #""badge":3,"thread-id":"booking","sound":"default"},"id":"\#(Fixture.nowMs)-0","type":"booking","#
                + #""data":{"bookingId":"b1"}}"#)
    }

    @Test func withoutSound() throws {
        let text = text(try Fixture.content(), silently: true)
        #expect(text.contains(#""interruption-level":"passive""#) && !text.contains("sound"))
    }

    @Test func aMessageOfAConversation() throws {
        let item = #"{"m":["ann","bob"],"t":"","x":"Hi \"you\"","i":"m1","s":"bob","l":1795205000000,"u":2,"w":true}"#
        let content = try #require(
            PushContent(conversation: Fixture.bytes("ann_bob"), stored: Fixture.bytes(item), user: Fixture.bytes("ann"))
        )
        #expect(
            text(content)
                == #"{"aps":{"alert":{"body":"Hi \"you\""},"badge":3,"thread-id":"ann_bob","mutable-content":1,"#
                + #""sound":"default"},"type":"message","conversationId":"ann_bob","senderId":"bob","messageId":"m1"}"#)
        #expect(PushContent.unread(stored: Fixture.bytes(item)) == 2)
        let own = PushContent(
            conversation: Fixture.bytes("ann_bob"), stored: Fixture.bytes(item), user: Fixture.bytes("bob"))
        #expect(own == nil)
    }

    @Test func whatIsTooLongLosesItsDataAndThenTheEndOfItsText() throws {
        let data = #"{"x":"\#(String(repeating: "d", count: 4_000))"}"#
        let lean = text(try Fixture.content(data: data))
        #expect(lean.utf8.count < 400 && lean.hasSuffix(#""type":"booking","cut":true}"#))
        for letter in ["x", "é", "😀", "\u{1}", "\""] {
            let body = String(repeating: letter, count: 2_000)
            let cut = text(try Fixture.content(body: "!" + body))
            let json = try JSON(parsing: Array(cut.utf8), limits: JSON.Limits(depthMax: 8, elementsMax: 50))
            let shown = try #require(json.root["aps"]?["alert"]?["body"]?.string)
            #expect(cut.utf8.count <= 4_096)
            if cut.utf8.count > 3_000 && shown.hasSuffix("…") {
                #expect(cut.utf8.count > 4_080 && ("!" + body).hasPrefix(shown.dropLast()))
            } else {
                #expect(shown == "!" + body)
            }
        }
    }

    @Test func bytesThatAreNoTextBreakNothing() throws {
        var random = Seeded(4)
        // Each takes as long as a hundred pushes, since all of the noise becomes replacement characters.
        for _ in 0..<Histories.count(40) {
            func noise(_ most: Int) -> [UInt8] {
                (0..<Int.random(in: 0...most, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
            }
            let fields = [
                Fixture.bytes("type"), noise(64), Fixture.bytes("title"), noise(800), Fixture.bytes("body"),
                noise(9_000),
                Fixture.bytes("data"), noise(30),
            ]
            let content = try #require(PushContent(notification: Fixture.bytes("5-0"), fields: fields))
            let text = PushPayload.text(content, badge: -4, silently: false)
            #expect(text.count <= 4_096)
            #expect(throws: Never.self) { try JSON(parsing: text, limits: JSON.Limits(depthMax: 8, elementsMax: 50)) }
        }
    }

    @Test(arguments: [
        (#"["Ann","3"]"#, #","loc-key":"b.k","loc-args":["Ann","3"]"#), ("[1]", #","loc-key":"b.k""#),
        ("{}", #","loc-key":"b.k""#), ("[", #","loc-key":"b.k""#),
    ])
    func theAppsOwnTextsStandBesideTheOthers(_ places: String, _ words: String) throws {
        let fields = ["type", "t", "title", "T", "body", "B", "data", "{}", "bodyKey", "b.k", "textArgs", places]
        let content = try #require(
            PushContent(notification: Fixture.bytes("5-0"), fields: fields.map { Fixture.bytes($0) }))
        let text = String(decoding: PushPayload.text(content, badge: 1, silently: false), as: UTF8.self)
        #expect(text.hasPrefix(#"{"aps":{"alert":{"title":"T","body":"B""# + words + "},"), "\(text)")
    }

    @Test(arguments: ["", "x-0", "99999999999999999-0"])
    func anEntryWithAnotherIDIsNone(_ id: String) {
        let fields = ["type", "t", "title", "t", "body", "b", "data", "{}"].map { Fixture.bytes($0) }
        #expect(PushContent(notification: Fixture.bytes(id), fields: fields) == nil)
        #expect(PushContent(notification: Fixture.bytes("5-0"), fields: Array(fields.dropLast(5))) == nil)
    }

    @Test func aCollapseIDIsShortAndItsOwn() throws {
        let long = String(repeating: "x", count: 198)
        let first = try #require(PushItem(name: Fixture.bytes("c:" + long), score: 1))
        let second = try #require(PushItem(name: Fixture.bytes("c:" + long.dropLast() + "y"), score: 1))
        #expect(first.collapseID.count <= 64 && second.collapseID.count <= 64 && first.collapseID != second.collapseID)
        #expect(try #require(PushItem(name: Fixture.bytes("n:1-0"), score: 1)).collapseID == Fixture.bytes("n:1-0"))
    }

    @Test(arguments: ["", "n:", "x:1", "n1", "n:a b", "c:" + String(repeating: "x", count: 199)])
    func namesOfNothing(_ name: String) { #expect(PushItem(name: Fixture.bytes(name), score: 1) == nil) }
}
