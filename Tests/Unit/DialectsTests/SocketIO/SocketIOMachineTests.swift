import Core
import Dialects
import Testing

/// Namespaces, events, acknowledgements and attachments of one connection.
@Suite struct SocketIOConversationTests {
    // MARK: Namespaces

    @Test(arguments: [
        ("40", "-", "40{\"sid\":\"id\"}"), ("40{}", "-", "40{\"sid\":\"id\"}"), ("40/", "-", "40{\"sid\":\"id\"}"),
        ("40/,", "-", "40{\"sid\":\"id\"}"), ("40/,{\"token\":\"x\"}", "x", "40{\"sid\":\"id\"}"),
        ("40{\"token\":\"123\"}", "123", "40{\"sid\":\"id\"}"), ("40{\"token\":null}", "-", "40{\"sid\":\"id\"}"),
        ("40{\"user\":\"u1\"}", "-", "40{\"sid\":\"id\"}"),
        ("40/queue", "-", "40/queue,{\"sid\":\"id\"}"), ("40/queue,", "-", "40/queue,{\"sid\":\"id\"}"),
        ("40/dj,{\"token\":\"a\\u0062c\"}", "abc", "40/dj,{\"sid\":\"id\"}"),
    ])
    func aNamespaceIsEnteredWithItsOwnToken(_ text: String, _ token: String, _ answer: String) {
        var client = SocketIOClient()
        #expect(client.says(text) == ["open 1 \(token)", answer])
    }

    @Test(arguments: [
        ("40/random", "44/random,{\"message\":\"Invalid namespace\"}"),
        ("40/random,{\"token\":\"x\"}", "44/random,{\"message\":\"Invalid namespace\"}"),
        ("40/a\"b", "44/a\"b,{\"message\":\"Invalid namespace\"}"),
        ("40/queue?a=b,", "44/queue?a=b,{\"message\":\"Invalid namespace\"}"),
        (
            "40/queue,{\"token\":1}",
            "44/queue,{\"message\":\"The member \\\"token\\\" of \\\"auth\\\" must be a string.\","
                + "\"data\":{\"code\":\"bad_request\"}}"
        ),
        (
            "40{\"positions\":1}",
            "44{\"message\":\"The member \\\"positions\\\" of \\\"auth\\\" must be true or false.\","
                + "\"data\":{\"code\":\"bad_request\"}}"
        ),
        (
            "40{\"a\":1,\"a\":2}",
            "44{\"message\":\"One object names a member twice; each name may occur once.\","
                + "\"data\":{\"code\":\"bad_request\"}}"
        ),
    ])
    func aNamespaceThatCannotBeEnteredIsToldAndTheConnectionStays(_ text: String, _ answer: String) {
        var client = SocketIOClient()
        #expect(client.says(text) == [answer])
        #expect(client.says("40") == ["open 1 -", "40{\"sid\":\"id\"}"])
    }

    @Test func aRefusedTokenIsToldWithItsCodeAndMayBeFollowedByAnother() {
        var client = SocketIOClient()
        client.opensDoors = false
        #expect(client.says("40/queue,{\"token\":\"old\"}") == ["open 1 old"])
        #expect(
            client.refused(1, Refusal(.unauthorized, "The token has \"expired\".")) == [
                "44/queue,{\"message\":\"The token has \\\"expired\\\".\",\"data\":{\"code\":\"unauthorized\"}}"
            ])
        #expect(client.says("40/queue,{\"token\":\"new\"}") == ["open 2 new"])
        #expect(
            client.refused(2, Refusal(.rateLimited, "Too many tokens.", retryAfterMs: 900)) == [
                "44/queue,{\"message\":\"Too many tokens.\",\"data\":{\"code\":\"rate_limited\",\"retryAfterMs\":900}}"
            ])
    }

    @Test(arguments: [
        // The first packet is a CONNECT, and each namespace wants its own.
        [], ["/"], ["/dj"],
    ])
    func whatIsSaidOutsideANamespaceEndsTheConnection(_ namespaces: [String]) {
        for text in [
            "41/queue,", "42/queue,[\"e\"]", "42/queue,1[\"ping\"]", "43/queue,1[]", "44/queue,\"x\"",
            "450-/queue,[\"e\"]", "42/random,[\"e\"]", "41/random,",
        ] {
            var client = SocketIOClient(in: namespaces)
            #expect(client.says(text) == ["close bad_request"], "\(text)")
        }
    }

    @Test func enteringANamespaceTwiceEndsTheConnection() {
        var client = SocketIOClient(in: ["/", "/queue"])
        #expect(client.says("40/queue,{\"token\":\"other\"}") == ["close bad_request"])
        var hasty = SocketIOClient()
        hasty.opensDoors = false
        #expect(hasty.says("40") == ["open 1 -"])
        #expect(hasty.says("40") == ["close bad_request"])
        #expect(hasty.opened(1) == ["40{\"sid\":\"id\"}"])
    }

    @Test func anEventBeforeTheNamespaceIsOpenEndsTheConnection() {
        var client = SocketIOClient()
        client.opensDoors = false
        _ = client.says("40")
        #expect(client.says("42[\"ping\"]") == ["close bad_request"])
    }

    @Test func aNamespaceThatWasLeftIsAnotherDoorWhenEnteredAgain() {
        var client = SocketIOClient(in: ["/", "/queue"])
        #expect(client.says("41/queue,") == ["end 2"])
        #expect(client.told(.pong, at: SessionID(2)) == [])
        #expect(client.says("42[\"ping\"]") == ["request 1 ping"])
        #expect(client.says("40/queue,") == ["open 3 -", "40/queue,{\"sid\":\"id\"}"])
        #expect(client.says("42/queue,[\"ping\"]") == ["request 3 ping"])
    }

    @Test func leavingTheLastNamespaceKeepsTheConnectionForATime() {
        var client = SocketIOClient(in: ["/"])
        #expect(client.says("41", at: 100) == ["end 1"])
        #expect(client.waits() == ["2"])
        #expect(client.says("3", at: 310) == [])
        #expect(client.says("40", at: 320) == ["open 2 -", "40{\"sid\":\"id\"}"])
        #expect(client.says("41", at: 330) == ["end 2"])
        var lines: [String] = []
        while lines.last?.hasPrefix("close") != true {
            lines += client.waits()
            if lines.last == "2" { _ = client.says("3", at: client.machine.deadlineMs - 200) }
        }
        #expect(lines.last == "close timeout")
    }

    @Test func aNamespaceThatIsTakenAwayIsToldAndLeft() {
        var client = SocketIOClient(in: ["/queue"])
        #expect(
            client.refused(1, Refusal(.unauthorized, "Revoked.")) == [
                "42/queue,[\"error\",{\"code\":\"unauthorized\",\"message\":\"Revoked.\"}]", "41/queue,",
            ])
        #expect(client.told(.pong, at: SessionID(1)) == [])
        #expect(client.waits() == ["close timeout"])
    }

    // MARK: Events in

    @Test(arguments: [
        ("[\"subscribe\",{\"shopId\":\"1\"}]", "subscribe shop:1"),
        ("[\"subscribe\",{\"topic\":\"shop:1\",\"since\":{\"epoch\":\"k\",\"offset\":4}}]", "subscribe shop:1@4"),
        ("[\"subscribe\",{\"topics\":[\"shop:1\",{\"topic\":\"dj:1\"}]}]", "subscribe shop:1 dj:1"),
        ("[\"unsubscribe\",{\"topic\":\"shop:1\"}]", "unsubscribe shop:1"),
        ("[\"publish\",{\"topic\":\"room:1\",\"event\":\"e\",\"data\":{\"a\": 1}}]", "publish room:1 e {\"a\": 1}"),
        ("[\"authenticate\",{\"token\":\"t\"}]", "authenticate t"), ("[\"authenticate\",\"t\"]", "authenticate t"),
        ("[\"ping\"]", "ping"), ("[\"ping\",null]", "ping"),
        ("[\"vote\",{\"trackId\":\"t1\",\"vote\":\"up\"}]", "command vote {\"trackId\":\"t1\",\"vote\":\"up\"}"),
        ("[\"message\"]", "command message {}"),
    ])
    func anEventIsACommand(_ event: String, _ command: String) {
        var client = SocketIOClient(in: ["/queue"])
        for head in ["42/queue,", "42/queue,0", "42/queue,9007199254740991"] {
            #expect(client.says(head + event) == ["request 1 \(command)"])
        }
    }

    @Test(arguments: [
        ("[\"subscribe\"]", "bad_request"), ("[\"subscribe\",{}]", "bad_request"), ("[\"a b\"]", "bad_request"),
        ("[7]", "bad_request"), ("[\"\"]", "bad_request"), ("[\"vote\",1]", "bad_request"),
        ("[\"vote\",\"x\"]", "bad_request"), ("[\"vote\",{},{}]", "bad_request"), ("[\"authenticate\"]", "bad_request"),
        ("[\"publish\",{\"topic\":\"room:1\",\"event\":\"error\"}]", "bad_request"),
        ("[\"subscribe\",{\"topics\":[\"a:1\",\"a:2\",\"a:3\",\"a:4\"]}]", "too_large"),
        ("[\"vote\",{\"a\":[[[[[[[[1]]]]]]]]}]", "too_large"), ("[\"vote\",{\"a\":1,\"a\":2}]", "bad_request"),
        (
            "[\"publish\",{\"topic\":\"r:1\",\"event\":\"e\",\"data\":{\"a\":\"\(String(repeating: "x", count: 50))\"}}]",
            "too_large"
        ),
    ])
    func anEventThatCannotBeACommandIsRefusedAndTheConnectionStays(_ event: String, _ code: String) {
        var client = SocketIOClient(in: ["/queue"])
        let lines = client.says("42/queue,5" + event)
        #expect(lines.count == 1 && lines[0].hasPrefix("refusal 1 \(code) "), "\(lines)")
        #expect(
            client.told(.error(Refusal(.badRequest, "No."), topic: nil)) == [
                "43/queue,5[{\"error\":{\"code\":\"bad_request\",\"message\":\"No.\"}}]"
            ])
        #expect(client.says("42/queue,6[\"ping\"]") == ["request 1 ping"])
    }

    @Test func acknowledgementsThatNobodyAskedForAreIgnored() {
        var client = SocketIOClient(in: ["/"])
        for text in ["43[]", "431[1]", "44{\"message\":\"x\"}", "44\"x\"", "460-1[]"] {
            #expect(client.says(text) == [], "\(text)")
        }
    }

    // MARK: Attachments

    @Test func anAcknowledgementWithAttachmentsIsReadToItsEnd() {
        var client = SocketIOClient(in: ["/"])
        #expect(client.says("461-3[{\"_placeholder\":true,\"num\":0}]") == [])
        #expect(client.sends([]) == [])
        #expect(client.says("42[\"ping\"]") == ["request 1 ping"])
    }

    @Test func bytesThatNobodyAnnouncedEndTheConnection() {
        for namespaces in [[], ["/"]] {
            var client = SocketIOClient(in: namespaces)
            #expect(client.sends([1]) == ["close bad_request"])
        }
    }

    @Test func textInPlaceOfAnAttachmentEndsTheConnection() {
        var client = SocketIOClient(in: ["/"])
        #expect(client.says("451-[\"blob\",{\"_placeholder\":true,\"num\":0}]") == [])
        #expect(client.says("42[\"ping\"]") == ["close bad_request"])
    }

    @Test func attachmentsTogetherHaveABound() {
        var client = SocketIOClient(in: ["/"])
        #expect(client.says("453-[\"blob\"]") == [])
        #expect(client.sends([UInt8](repeating: 0, count: 600_000)) == [])
        #expect(client.sends([UInt8](repeating: 0, count: 600_000)) == ["close message_too_big"])
    }
}
