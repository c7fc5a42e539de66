import Core
import Dialects
import Testing

/// Joins: what is read of them, and what their replies look like (wire sections 1.6 and 1.7).
@Suite struct PhoenixJoinTests {
    private static let replyOK = "{\"postgres_changes\":[]}"

    @Test(arguments: PhoenixVersion.allCases)
    func aJoinSubscribesAndItsReplyAlwaysHasPostgresChanges(_ version: PhoenixVersion) throws {
        var phoenix = Phoenix(version)
        phoenix.send(Phoenix.join(version))
        let request = SubscribeRequest(topic: try Phoenix.topic(), since: nil)
        #expect(try phoenix.command() == .subscribe([request]))
        #expect(phoenix.heard() == [])
        try phoenix.answer(try Phoenix.subscribed())
        #expect(phoenix.heard() == [Phoenix.reply(version, "ok", Self.replyOK, ref: "1")])
    }

    /// The frames that the three clients send, the older client of Swift among them.
    @Test(arguments: [
        "[\"6\",\"6\",\"realtime:room1\",\"phx_join\",{\"config\":{\"broadcast\":{\"self\":true,\"ack\":true},\"presence\":"
            + "{\"key\":\"u1\",\"enabled\":false},\"postgres_changes\":[],\"private\":false},\"access_token\":\"sb_x\"}]",
        "[\"6\",\"6\",\"realtime:room1\",\"phx_join\",{}]",
        "[\"6\",\"6\",\"realtime:room1\",\"phx_join\",{\"config\":{\"broadcast\":{\"ack\":\"FALSE\",\"self\":\"True\"},"
            + "\"postgres_changes\":null,\"presence\":{\"key\":7}}},\"extra\"]",
        "[\"6\",\"6\",\"realtime:room1\",\"phx_join\",{\"config\":[],\"version\":\"realtime-js/2\"}]",
        "[\"6\",\"6\",\"realtime:room1\",\"phx_join\",{\"config\":{\"broadcast\":7,\"presence\":null,\"private\":\"true\","
            + "\"postgres_changes\":[null,null]}}]",
    ])
    func whatIsOfAWrongKindCountsAsAbsent(_ frame: String) throws {
        var phoenix = Phoenix(.v2)
        phoenix.send(frame)
        let topic = try Phoenix.topic("phoenix:room1")
        #expect(try phoenix.command() == .subscribe([SubscribeRequest(topic: topic, since: nil)]))
        try phoenix.answer(try Phoenix.subscribed("phoenix:room1"))
        #expect(phoenix.heard() == [Phoenix.reply(.v2, "realtime:room1", "ok", Self.replyOK, ref: "6", joinRef: "6")])
    }

    @Test func aJoinWithoutJoinRefHasItsOwnReference() throws {
        var phoenix = Phoenix(.v1)
        phoenix.send("{\"topic\":\"realtime:order:42\",\"event\":\"phx_join\",\"payload\":{},\"ref\":\"8\"}")
        try phoenix.answer(try Phoenix.subscribed())
        #expect(phoenix.heard() == [Phoenix.reply(.v1, "ok", Self.replyOK, ref: "8")])
        phoenix.send(Phoenix.frame(.v1, Phoenix.order, "phx_leave", "{}", ref: "9", joinRef: "8"))
        try phoenix.answer(.unsubscribed(topic: try Phoenix.topic()))
        #expect(phoenix.heard().last == Phoenix.message(.v1, Phoenix.order, "phx_close", "{}", ref: "8"))
    }

    @Test(arguments: PhoenixVersion.allCases)
    func databaseChangesAreEchoedAndThenRefusedAloud(_ version: PhoenixVersion) throws {
        var phoenix = Phoenix(version)
        let asked = "{\"event\":\"*\",\"schema\":\"public\",\"table\":\"orders\",\"filter\":\"id=eq.1\"}"
        phoenix.send(
            Phoenix.join(version, Phoenix.order, "{\"postgres_changes\":[\(asked),null,{\"event\":\"INSERT\"}]}"))
        try phoenix.answer(try Phoenix.subscribed())
        let echo =
            "{\"postgres_changes\":[{\"event\":\"*\",\"schema\":\"public\",\"table\":\"orders\",\"filter\":\"id=eq.1\","
            + "\"id\":1},{\"event\":\"INSERT\",\"id\":2}]}"
        let notice =
            "{\"extension\":\"postgres_changes\",\"status\":\"error\",\"message\":\"Database changes are not told here; "
            + "listen to broadcasts.\",\"channel\":\"order:42\"}"
        #expect(
            phoenix.heard() == [
                Phoenix.reply(version, "ok", echo, ref: "1"),
                Phoenix.message(version, Phoenix.order, "system", notice, ref: nil, joinRef: "1"),
            ])
    }

    /// A client that waits for `system` with status `ok` waited for ever.
    @Test(arguments: PhoenixVersion.allCases, [("{\"replication_ready\":true}", false), ("{}", true), ("{}", false)])
    func readinessIsToldToWhoWantsIt(_ version: PhoenixVersion, _ asked: (broadcast: String, isFlat: Bool)) throws {
        var phoenix = Phoenix(version, flattened: asked.isFlat ? [Array("order".utf8)] : [])
        phoenix.send(Phoenix.join(version, Phoenix.order, "{\"broadcast\":\(asked.broadcast)}"))
        try phoenix.answer(try Phoenix.subscribed())
        let notice =
            "{\"extension\":\"system\",\"status\":\"ok\",\"message\":\"Replication connection established\","
            + "\"channel\":\"order:42\"}"
        let wanted = [Phoenix.message(version, Phoenix.order, "system", notice, ref: nil, joinRef: "1")]
        let isReported = asked.isFlat || asked.broadcast != "{}"
        #expect(phoenix.heard() == [Phoenix.reply(version, "ok", Self.replyOK, ref: "1")] + (isReported ? wanted : []))
    }

    @Test func tooManyDatabaseChangesAreNotKept() throws {
        var phoenix = Phoenix(.v2)
        let table = String(repeating: "t", count: 4_000)
        let change = "{\"table\":\"\(table)\"}"
        phoenix.send(Phoenix.join(.v2, Phoenix.order, "{\"postgres_changes\":[\(change),\(change),\(change)]}"))
        try phoenix.answer()
        let reason = "InvalidJoinPayload: postgres_changes asks for too much"
        #expect(phoenix.heard() == [Phoenix.refused(.v2, reason, ref: "1")])
    }

    @Test(arguments: PhoenixVersion.allCases)
    func presenceStateFollowsTheReply(_ version: PhoenixVersion) throws {
        var phoenix = Phoenix(version)
        phoenix.send(Phoenix.join(version, Phoenix.order, "{\"presence\":{\"key\":\"\",\"enabled\":true}}"))
        let request = SubscribeRequest(topic: try Phoenix.topic(), since: nil, presence: true)
        #expect(try phoenix.command() == .subscribe([request]))
        try phoenix.answer(try Phoenix.subscribed())
        phoenix.tell(.presence(topic: try Phoenix.topic(), members: nil))
        phoenix.tell(.presence(topic: try Phoenix.topic(), members: Array("{\"k\":{\"metas\":[]}}".utf8)))
        #expect(
            phoenix.heard() == [
                Phoenix.reply(version, "ok", Self.replyOK, ref: "1"),
                Phoenix.message(version, Phoenix.order, "presence_state", "{}", ref: nil, joinRef: "1"),
                Phoenix.message(
                    version, Phoenix.order, "presence_state", "{\"k\":{\"metas\":[]}}", ref: nil, joinRef: "1"),
            ])
    }

    @Test func aPresenceKeyIsBounded() throws {
        var phoenix = Phoenix(.v2)
        let key = String(repeating: "k", count: PresenceMember.keyBytesMax + 1)
        phoenix.send(Phoenix.join(.v2, Phoenix.order, "{\"presence\":{\"key\":\"\(key)\"}}"))
        try phoenix.answer()
        let reason = "InvalidJoinPayload: config.presence.key has at most 128 bytes"
        #expect(phoenix.heard() == [Phoenix.refused(.v2, reason, ref: "1")])
    }

    /// The libraries look keys up in a plain object: such a key failed everybody in the room.
    @Test(arguments: ["constructor", "__proto__", "toString", "hasOwnProperty"])
    func aPresenceKeyIsNoMemberOfEveryObject(_ key: String) throws {
        var phoenix = Phoenix(.v2)
        phoenix.send(Phoenix.join(.v2, Phoenix.order, "{\"presence\":{\"key\":\"\(key)\"}}"))
        try phoenix.answer()
        let reason = "InvalidJoinPayload: config.presence.key is a name that every object of JavaScript has"
        #expect(phoenix.heard() == [Phoenix.refused(.v2, reason, ref: "1")])
    }

    // MARK: Positions

    @Test func aPositionResumesAndAHoleIsTold() throws {
        let config = "{\"broadcast\":{\"since\":{\"epoch\":\"k3x9\",\"offset\":12}}}"
        for (recovered, count) in [(true, 1), (false, 2)] {
            var phoenix = Phoenix(.v2)
            phoenix.send(Phoenix.join(.v2, Phoenix.order, config))
            let request = SubscribeRequest(topic: try Phoenix.topic(), since: try Phoenix.position("k3x9", 12))
            #expect(try phoenix.command() == .subscribe([request]))
            try phoenix.answer(try Phoenix.subscribed(recovered: recovered))
            let heard = phoenix.heard()
            #expect(heard.count == count)
            guard !recovered else { continue }
            let gap =
                "{\"extension\":\"gap\",\"status\":\"ok\",\"message\":\"gap: events up to k3x9:17 are missing (missed)\","
                + "\"channel\":\"order:42\",\"reason\":\"missed\",\"epoch\":\"k3x9\",\"offset\":17}"
            #expect(heard.last == Phoenix.message(.v2, Phoenix.order, "system", gap, ref: nil))
        }
    }

    // MARK: Tokens

    private static let token = "aaa.bbb.ccc"

    @Test(arguments: PhoenixVersion.allCases)
    func aTokenIsShownBeforeTheTopicIsJoined(_ version: PhoenixVersion) throws {
        var phoenix = Phoenix(version)
        phoenix.send(Phoenix.join(version, Phoenix.order, "{}", ",\"access_token\":\"\(Self.token)\""))
        #expect(try phoenix.command() == .refresh(token: Array(Self.token.utf8)))
        try phoenix.answer(.authenticated(userID: Array("u1".utf8), expiresAt: 9))
        #expect(try phoenix.command() == .subscribe([SubscribeRequest(topic: try Phoenix.topic(), since: nil)]))
        #expect(phoenix.heard() == [])
        try phoenix.answer(try Phoenix.subscribed())
        #expect(phoenix.heard() == [Phoenix.reply(version, "ok", Self.replyOK, ref: "1")])
        // The same token with the next join is not looked at again.
        phoenix.send(
            Phoenix.join(version, "realtime:order:43", ref: "2", "{}", ",\"access_token\":\"\(Self.token)\""))
        #expect(
            try phoenix.command() == .subscribe([SubscribeRequest(topic: try Phoenix.topic("order:43"), since: nil)]))
    }

    @Test func theLegacyNameOfATokenWins() throws {
        var phoenix = Phoenix(.v2)
        phoenix.send(Phoenix.join(.v2, Phoenix.order, "{}", ",\"access_token\":\"x.y.z\",\"user_token\":\"a.b.c\""))
        #expect(try phoenix.command() == .refresh(token: Array("a.b.c".utf8)))
    }

    /// Keys are shown by the connection; clients without a user repeat them in each join.
    @Test(arguments: ["\"sb_publishable_a.b.c\"", "\"sb_x\"", "\"test-api-key\"", "\"\"", "null", "7", "{}"])
    func keysAreNoTokens(_ key: String) throws {
        var phoenix = Phoenix(.v2)
        phoenix.send(Phoenix.join(.v2, Phoenix.order, "{}", ",\"access_token\":\(key)"))
        #expect(try phoenix.command() == .subscribe([SubscribeRequest(topic: try Phoenix.topic(), since: nil)]))
    }

    @Test(arguments: PhoenixVersion.allCases)
    func aRefusedTokenRefusesItsJoinOnly(_ version: PhoenixVersion) throws {
        var phoenix = try Phoenix.joined(version)
        phoenix.send(Phoenix.join(version, "realtime:order:43", ref: "2", "{}", ",\"access_token\":\"a.b.c\""))
        try phoenix.answer(.error(Refusal(.unauthorized, "The token has expired."), topic: nil))
        #expect(
            phoenix.heard() == [
                Phoenix.refused(
                    version, "realtime:order:43", "InvalidJWTToken: The token has expired.", ref: "2", joinRef: "2")
            ])
        #expect(phoenix.asked.isEmpty)
        phoenix.send(Phoenix.frame(version, Phoenix.order, "broadcast", "{\"event\":\"e\"}", ref: "3"))
        #expect(throws: Never.self) { try phoenix.command() }
    }
}
