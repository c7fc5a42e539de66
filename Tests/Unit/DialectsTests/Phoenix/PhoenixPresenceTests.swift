import Core
import Dialects
import Testing

/// Presence in the frames of Phoenix.
@Suite struct PhoenixPresenceTests {
    private func member(
        _ number: Int, key: String, user: String? = nil, meta: String = "{}", revision: Int = 1
    ) -> PresenceMember {
        PresenceMember(
            id: PresenceID(node: Array("n".utf8), shard: 0, number: number), key: Array(key.utf8),
            user: user.map { Array($0.utf8) }, meta: Array(meta.utf8), revision: revision)
    }

    private func state(_ members: [PresenceMember]) throws -> String {
        let text = PhoenixEventEncoder(.v2).presence(try Phoenix.topic(), members)
        return String(decoding: try #require(text), as: UTF8.self)
    }

    // MARK: Requests

    @Test(arguments: PhoenixVersion.allCases)
    func trackAndUntrackAreAlwaysAnswered(_ version: PhoenixVersion) throws {
        var phoenix = try Phoenix.joined(version, "{\"presence\":{\"key\":\"me\",\"enabled\":true}}")
        for event in ["track", "TRACK"] {
            let payload = "{\"type\":\"presence\",\"event\":\"\(event)\",\"payload\":{\"user\":\"u1\"}}"
            phoenix.send(Phoenix.frame(version, Phoenix.order, "presence", payload, ref: "4"))
            let request = TrackRequest(
                topic: try Phoenix.topic(), key: .given(Array("me".utf8)), meta: Array("{\"user\":\"u1\"}".utf8))
            #expect(try phoenix.command() == .track(request))
            try phoenix.answer(.ack(data: Array("{\"id\":\"n.0.1\"}".utf8)))
            #expect(phoenix.heard() == [Phoenix.reply(version, "ok", "{}", ref: "4")])
        }
        let untrack = "{\"event\":\"untrack\",\"payload\":{}}"
        phoenix.send(Phoenix.frame(version, Phoenix.order, "presence", untrack, ref: "5"))
        #expect(try phoenix.command() == .untrack(try Phoenix.topic()))
        try phoenix.answer(.ack(data: Array("{}".utf8)))
        #expect(phoenix.heard() == [Phoenix.reply(version, "ok", "{}", ref: "5")])
    }

    /// Python's client echoes what it heard, and a forged `phx_ref` would make others remove somebody else.
    @Test(arguments: [
        ("{\"a\":{\"phx_x\":1},\"phx_ref\":\"n.0.9/1\",\"phx_user\":\"u9\",\"b\":2}", "{\"a\":{\"phx_x\":1},\"b\":2}"),
        ("{\"phx_ref\":1}", "{}"), ("{\"\\u0070hx_user\":\"u9\"}", "{}"), ("{ \"a\" : 1 }", "{ \"a\" : 1 }"),
    ])
    func theGatewaysMembersAreLeftOut(_ said: String, _ kept: String) throws {
        var phoenix = try Phoenix.joined(.v2)
        let payload = "{\"event\":\"track\",\"payload\":\(said)}"
        phoenix.send(Phoenix.frame(.v2, Phoenix.order, "presence", payload, ref: "4"))
        guard case .track(let request) = try phoenix.command() else { return #expect(Bool(false)) }
        #expect(request.meta == Array(kept.utf8))
        #expect(request.key == .unique)
    }

    @Test(
        arguments: PhoenixVersion.allCases,
        [
            ("{\"event\":\"track\",\"payload\":[1]}", "Presence track payload must be a map"),
            ("{\"event\":\"track\"}", "Presence track payload must be a map"),
            ("{\"event\":\"dance\",\"payload\":{}}", "UnknownPresenceEvent: send track or untrack"),
            ("{}", "UnknownPresenceEvent: send track or untrack"),
        ])
    func whatIsNoneIsRefused(_ version: PhoenixVersion, _ row: (payload: String, reason: String)) throws {
        var phoenix = try Phoenix.joined(version)
        phoenix.send(Phoenix.frame(version, Phoenix.order, "presence", row.payload, ref: "4"))
        try phoenix.answer()
        #expect(phoenix.heard() == [Phoenix.refused(version, row.reason, ref: "4")])
    }

    @Test(
        arguments: PhoenixVersion.allCases,
        [
            (ErrorCode.notFound, "PresenceNotEnabled: this topic has no presence"),
            (.tooLarge, "PresenceTooLarge: why"), (.rateLimited, "RateLimited: why"),
            (.unauthorized, "Unauthorized: You do not have permissions to write to this Channel topic: order:42"),
        ])
    func whyNobodyIsListed(_ version: PhoenixVersion, _ row: (code: ErrorCode, reason: String)) throws {
        var phoenix = try Phoenix.joined(version)
        let track = "{\"event\":\"track\",\"payload\":{}}"
        phoenix.send(Phoenix.frame(version, Phoenix.order, "presence", track, ref: "4"))
        try phoenix.answer(.error(Refusal(row.code, "why"), topic: nil))
        #expect(phoenix.heard() == [Phoenix.refused(version, row.reason, ref: "4")])
    }

    // MARK: What is told

    @Test func aStateIsByKeyAndItsLastWordIsOurs() throws {
        let members = [
            member(1, key: "a", user: "u1", meta: "{\"n\":1}"), member(2, key: "b\"", meta: "{ }"),
            member(3, key: "a", meta: "{\"phx_ref\":\"forged\"}", revision: 4),
        ]
        #expect(
            try state(members)
                == "{\"a\":{\"metas\":[{\"n\":1,\"phx_ref\":\"n.0.1/1\",\"phx_user\":\"u1\"},"
                + "{\"phx_ref\":\"forged\",\"phx_ref\":\"n.0.3/4\"}]},"
                + "\"b\\\"\":{\"metas\":[{ \"phx_ref\":\"n.0.2/1\"}]}}")
        #expect(try state([]) == "{}")
    }

    @Test(arguments: PhoenixVersion.allCases)
    func aDiffNamesWhatItRemoves(_ version: PhoenixVersion) throws {
        let change = PresenceChange(
            joins: [member(1, key: "a", meta: "{\"n\":3}", revision: 3), member(2, key: "b")],
            leaves: [member(1, key: "a", meta: "{\"n\":1}"), member(3, key: "c")])
        let units = PhoenixEventEncoder(version).presence(try Phoenix.topic(), change)
        let payload =
            "{\"joins\":{\"a\":{\"metas\":[{\"n\":3,\"phx_ref\":\"n.0.1/3\",\"phx_ref_prev\":\"n.0.1/1\"}]},"
            + "\"b\":{\"metas\":[{\"phx_ref\":\"n.0.2/1\"}]}},"
            + "\"leaves\":{\"a\":{\"metas\":[{\"n\":1,\"phx_ref\":\"n.0.1/1\"}]},"
            + "\"c\":{\"metas\":[{\"phx_ref\":\"n.0.3/1\"}]}}}"
        #expect(
            units.map(Phoenix.text)
                == [Phoenix.message(version, Phoenix.order, "presence_diff", payload, ref: nil, joinRef: nil)])
        let empty = PhoenixEventEncoder(version).presence(
            try Phoenix.topic(), PresenceChange(joins: [member(2, key: "b")]))
        #expect(Phoenix.text(empty[0]).contains("\"leaves\":{}"), "both members are always there")
    }
}
