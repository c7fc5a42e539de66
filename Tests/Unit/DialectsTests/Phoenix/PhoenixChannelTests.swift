import Core
import Dialects
import Testing

/// Channels while they live, and their ends (wire sections 1.5 and 1.8 to 1.13).
@Suite struct PhoenixChannelTests {
    // MARK: Heartbeat

    @Test func heartbeatsAreAnsweredWithTheirReference() throws {
        for (version, frame, answer) in [
            (
                PhoenixVersion.v1, "{\"topic\":\"phoenix\",\"event\":\"heartbeat\",\"payload\":{},\"ref\":\"10\"}",
                Phoenix.reply(.v1, "phoenix", "ok", "{}", ref: "10")
            ),
            // Python's.
            (
                .v1, "{\"event\":\"heartbeat\",\"payload\":{},\"topic\":\"phoenix\",\"ref\":null,\"join_ref\":null}",
                Phoenix.reply(.v1, "phoenix", "ok", "{}", ref: nil)
            ),
            (
                .v2, "[null,\"11\",\"phoenix\",\"heartbeat\",{}]",
                "[null,\"11\",\"phoenix\",\"phx_reply\",{\"status\":\"ok\",\"response\":{}}]"
            ),
        ] {
            var phoenix = Phoenix(version)
            phoenix.send(frame)
            #expect(try phoenix.command() == .ping)
            try phoenix.answer(.pong)
            #expect(phoenix.heard() == [answer])
        }
    }

    // MARK: Broadcast

    @Test(arguments: PhoenixVersion.allCases)
    func aBroadcastIsPublishedAndAnsweredOnlyIfWanted(_ version: PhoenixVersion) throws {
        for ack in [false, true] {
            var phoenix = try Phoenix.joined(version, "{\"broadcast\":{\"ack\":\(ack),\"self\":\(ack)}}")
            let payload = "{\"type\":\"broadcast\",\"event\":\"chat\",\"payload\":{\"n\": 1}}"
            phoenix.send(Phoenix.frame(version, Phoenix.order, "broadcast", payload, ref: "3"))
            guard case .publish(let request) = try phoenix.command() else { return #expect(Bool(false)) }
            #expect(request.topic == (try Phoenix.topic()))
            #expect(request.event.description == "chat")
            #expect(String(decoding: request.data, as: UTF8.self) == "{\"n\": 1}")
            #expect(request.isForOthers == !ack)
            try phoenix.answer(.published(position: try Phoenix.position()))
            #expect(phoenix.heard() == (ack ? [Phoenix.reply(version, "ok", "{}", ref: "3")] : []))
        }
    }

    /// The worked example of the specification, captured from realtime-js, and raw bytes.
    @Test func binaryBroadcastsArePublished() throws {
        var phoenix = Phoenix(.v2)
        phoenix.send(Phoenix.join(.v2, "realtime:room1", ref: "6", "{\"broadcast\":{\"ack\":true}}"))
        try phoenix.answer(try Phoenix.subscribed("phoenix:room1"))
        _ = phoenix.heard()
        for (hex, event, data) in [
            (
                "0301010e0400013637" + "7265616c74696d653a726f6f6d31" + "63686174"
                    + "7b226e223a312c2273223a22c3a9f09f9880227d", "chat", "{\"n\":1,\"s\":\"é😀\"}"
            ),
            (
                "0301010e0300003637" + "7265616c74696d653a726f6f6d31" + "62696e" + "010203", "bin",
                "{\"$bytes\":\"AQID\"}"
            ),
        ] {
            phoenix.send(Bytes.of(hex), as: .binary)
            guard case .publish(let request) = try phoenix.command() else { return #expect(Bool(false)) }
            #expect(request.topic == (try Phoenix.topic("phoenix:room1")))
            #expect(request.event.description == event)
            #expect(String(decoding: request.data, as: UTF8.self) == data)
            try phoenix.answer(.published(position: try Phoenix.position()))
            #expect(phoenix.heard() == [Phoenix.reply(.v2, "realtime:room1", "ok", "{}", ref: "7", joinRef: "6")])
        }
    }

    @Test func aBroadcastBeforeTheReplyOfItsJoinIsAsked() throws {
        var phoenix = Phoenix(.v2)
        phoenix.send(Phoenix.join(.v2))
        phoenix.send(Phoenix.frame(.v2, Phoenix.order, "broadcast", "{\"event\":\"e\"}", ref: "2"))
        #expect(phoenix.asked.count == 2)
    }

    // MARK: Leave

    @Test(arguments: PhoenixVersion.allCases)
    func leavingIsAnsweredByReplyAndClose(_ version: PhoenixVersion) throws {
        for joinRef in ["\"1\"", "null"] {
            var phoenix = try Phoenix.joined(version)
            let frame = Phoenix.frame(version, Phoenix.order, "phx_leave", "{}", ref: "5")
            phoenix.send(
                frame.replacing("[\"1\"", with: "[\(joinRef)")
                    .replacing("\"join_ref\":\"1\"", with: "\"join_ref\":\(joinRef)"))
            #expect(try phoenix.command() == .unsubscribe([try Phoenix.topic()]))
            try phoenix.answer(.unsubscribed(topic: try Phoenix.topic()))
            #expect(
                phoenix.heard() == [
                    Phoenix.reply(version, "ok", "{}", ref: "5"),
                    Phoenix.message(version, Phoenix.order, "phx_close", "{}", ref: "1", joinRef: "1"),
                ])
            // It is gone.
            phoenix.send(Phoenix.frame(version, Phoenix.order, "broadcast", "{\"event\":\"e\"}", ref: "6"))
            try phoenix.answer()
            #expect(phoenix.heard() == [Phoenix.refused(version, "unmatched topic", ref: "6", joinRef: nil)])
        }
    }

    @Test(arguments: PhoenixVersion.allCases)
    func leavingWhatWasNotJoinedSucceedsAndAStaleLeaveIsIgnored(_ version: PhoenixVersion) throws {
        var phoenix = try Phoenix.joined(version)
        for channel in ["realtime:order:7", "foo:r", "phoenix"] {
            phoenix.send(Phoenix.frame(version, channel, "phx_leave", "{}", ref: "5"))
            try phoenix.answer(.pong)
            #expect(phoenix.heard() == [Phoenix.reply(version, channel, "ok", "{}", ref: "5")])
        }
        phoenix.send(Phoenix.frame(version, Phoenix.order, "phx_leave", "{}", ref: "5", joinRef: "9"))
        try phoenix.answer()
        #expect(phoenix.heard() == [])
    }

    // MARK: Joining again

    @Test(arguments: PhoenixVersion.allCases)
    func joiningAgainEndsTheOlderJoin(_ version: PhoenixVersion) throws {
        var phoenix = try Phoenix.joined(version)
        phoenix.send(Phoenix.join(version, Phoenix.order, ref: "2"))
        try phoenix.answer(try Phoenix.subscribed())
        let reply = Phoenix.reply(version, "ok", "{\"postgres_changes\":[]}", ref: "2", joinRef: "2")
        let close = Phoenix.message(version, Phoenix.order, "phx_close", "{}", ref: "1", joinRef: "1")
        // Python's client speaks v1, ignores the reference, and would close its new channel.
        #expect(phoenix.heard() == (version == .v2 ? [reply, close] : [reply]))
    }

    @Test(arguments: PhoenixVersion.allCases)
    func anOlderJoinEndsAlsoWhenTheNewerOneIsRefused(_ version: PhoenixVersion) throws {
        var phoenix = try Phoenix.joined(version)
        phoenix.send(Phoenix.join(version, Phoenix.order, ref: "2"))
        try phoenix.answer(.error(Refusal(.rateLimited, "more than 20 joins a second"), topic: try Phoenix.topic()))
        let reason = "ClientJoinRateLimitReached: Too many joins per second"
        #expect(phoenix.heard().first == Phoenix.refused(version, reason, ref: "2", joinRef: "2"))
        #expect(try phoenix.command() == .unsubscribe([try Phoenix.topic()]))
        try phoenix.answer(.unsubscribed(topic: try Phoenix.topic()))
        #expect(phoenix.heard() == [])
    }

    /// The gateway answers the join whose place another has taken with `conflict`.
    @Test func aJoinThatWaitsGivesWayToTheNext() throws {
        var phoenix = Phoenix(.v2)
        phoenix.send(Phoenix.join(.v2))
        phoenix.send(Phoenix.join(.v2, Phoenix.order, ref: "2"))
        try phoenix.answer(.error(Refusal(.conflict, "Another one counts."), topic: try Phoenix.topic()))
        #expect(phoenix.heard() == [Phoenix.refused(.v2, "Conflict: Another one counts.", ref: "1")])
        #expect(phoenix.asked.count == 1)
        try phoenix.answer(try Phoenix.subscribed())
        #expect(
            phoenix.heard() == [Phoenix.reply(.v2, "ok", "{\"postgres_changes\":[]}", ref: "2", joinRef: "2")])
    }

    // MARK: Token

    @Test(arguments: PhoenixVersion.allCases)
    func aRefreshedTokenIsNotAnswered(_ version: PhoenixVersion) throws {
        var phoenix = try Phoenix.joined(version)
        let frame = Phoenix.frame(version, Phoenix.order, "access_token", "{\"access_token\":\"a.b.c\"}", ref: "4")
        phoenix.send(frame)
        #expect(try phoenix.command() == .refresh(token: Array("a.b.c".utf8)))
        try phoenix.answer(.authenticated(userID: Array("u1".utf8), expiresAt: 9))
        // The same again, none, and a key are not looked at; they cost what any message costs.
        phoenix.send(frame)
        #expect(try phoenix.command() == .ping)
        try phoenix.answer(.pong)
        for token in ["null", "\"sb_publishable_x\"", "7"] {
            let payload = "{\"access_token\":\(token)}"
            phoenix.send(Phoenix.frame(version, Phoenix.order, "access_token", payload, ref: "4"))
            try phoenix.answer(.pong)
        }
        #expect(phoenix.asked.isEmpty)
        #expect(phoenix.heard() == [])
    }

    @Test(arguments: PhoenixVersion.allCases)
    func aRefusedTokenEndsTheChannel(_ version: PhoenixVersion) throws {
        var phoenix = try Phoenix.joined(version)
        phoenix.send(Phoenix.frame(version, Phoenix.order, "access_token", "{\"access_token\":\"a.b.c\"}", ref: "4"))
        try phoenix.answer(.error(Refusal(.unauthorized, "The token has expired."), topic: nil))
        #expect(phoenix.heard() == Self.ended(version, "The token has expired."))
        #expect(try phoenix.command() == .unsubscribe([try Phoenix.topic()]))
    }

    @Test func aTokenThatCameTooSoonEndsNothing() throws {
        var phoenix = try Phoenix.joined(.v2)
        phoenix.send(Phoenix.frame(.v2, Phoenix.order, "access_token", "{\"access_token\":\"a.b.c\"}", ref: "4"))
        try phoenix.answer(.error(Refusal(.rateLimited, "too many"), topic: nil))
        let notice =
            "{\"extension\":\"system\",\"status\":\"ok\",\"message\":\"access_token not taken: too many\","
            + "\"channel\":\"order:42\"}"
        #expect(phoenix.heard() == [Phoenix.message(.v2, Phoenix.order, "system", notice, ref: nil, joinRef: "1")])
        #expect(phoenix.asked.isEmpty)
    }

    // MARK: From the gateway

    private static func ended(_ version: PhoenixVersion, _ text: String) -> [String] {
        let notice =
            "{\"extension\":\"system\",\"status\":\"error\",\"message\":\"\(text)\",\"channel\":\"order:42\"}"
        return [
            Phoenix.message(version, Phoenix.order, "system", notice, ref: nil, joinRef: "1"),
            Phoenix.message(version, Phoenix.order, "phx_close", "{}", ref: "1", joinRef: "1"),
        ]
    }

    @Test(arguments: PhoenixVersion.allCases)
    func aRightThatIsWithdrawnEndsTheChannelWithItsReason(_ version: PhoenixVersion) throws {
        var phoenix = try Phoenix.joined(version)
        phoenix.tell(.unsubscribed(topic: try Phoenix.topic()))
        #expect(phoenix.heard() == [])
        phoenix.tell(.error(Refusal(.forbidden, "no member"), topic: try Phoenix.topic()))
        #expect(
            phoenix.heard()
                == Self.ended(
                    version, "You no longer have permission to read from this Channel topic: order:42"))
    }

    /// `phx_close` would keep clients from joining again when they are back.
    @Test(arguments: PhoenixVersion.allCases)
    func whatEndsTheConnectionIsToldToItsChannels(_ version: PhoenixVersion) throws {
        var phoenix = try Phoenix.joined(version)
        phoenix.tell(.error(Refusal(.unauthorized, "the token has expired"), topic: nil))
        #expect(phoenix.heard() == [Self.ended(version, "the token has expired")[0]])
    }

    @Test func whatClientsDoByThemselvesIsNotTold() throws {
        var phoenix = try Phoenix.joined(.v2)
        phoenix.tell(.draining(reconnectAfterMs: 100))
        phoenix.tell(.tokenExpiring(expiresAt: 1))
        phoenix.tell(.warning(code: .rateLimited, message: "m", perSecond: 5))
        #expect(phoenix.heard() == [])
    }

    @Test(arguments: PhoenixVersion.allCases)
    func aGapIsASystemNoticeAlsoFromTheEncoder(_ version: PhoenixVersion) throws {
        var phoenix = try Phoenix.joined(version)
        phoenix.tell(.gap(topic: try Phoenix.topic(), position: nil, reason: .conflated))
        let notice =
            "{\"extension\":\"gap\",\"status\":\"ok\",\"message\":\"gap: events are missing (conflated)\","
            + "\"channel\":\"order:42\",\"reason\":\"conflated\"}"
        let expected = [Phoenix.message(version, Phoenix.order, "system", notice, ref: nil)]
        #expect(phoenix.heard() == expected)
        let units = PhoenixEventEncoder(version).gap(try Phoenix.topic(), nil, .conflated)
        #expect(units.map(Phoenix.text) == expected)
    }
}

/// Bytes written in hexadecimal.
enum Bytes {
    static func of(_ hex: String) -> [UInt8] {
        let digits = hex.utf8.compactMap { ASCII.hexValue($0) }
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
