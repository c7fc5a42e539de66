import Core
import Dialects
import Testing

/// Broadcasts by the clock, `config.broadcast.replay`.
@Suite struct PhoenixReplayTests {
    private func event(_ offset: Int, _ data: String = "{\"n\":1}", id: String? = nil) throws -> ChannelMessage {
        ChannelMessage(
            position: try Phoenix.position("k3x9", offset), event: try #require(EventName("e")),
            id: id.flatMap { MessageID(Array($0.utf8)) }, data: Array(data.utf8))
    }

    private func join(_ version: PhoenixVersion, _ broadcast: String) -> Phoenix {
        var phoenix = Phoenix(version)
        phoenix.send(Phoenix.join(version, Phoenix.order, "{\"broadcast\":\(broadcast),\"private\":true}"))
        return phoenix
    }

    /// A join with `replay` was refused with `UnableToReplayMessages`, because the log was thought to know no times.
    @Test(arguments: PhoenixVersion.allCases)
    func theReplayFollowsTheReplyOldestFirst(_ version: PhoenixVersion) throws {
        var phoenix = join(version, "{\"replay\":{\"since\":1700000000000,\"limit\":2}}")
        let wanted = ReplayRequest(sinceMs: 1_700_000_000_000, limit: 2)
        let topic = try Phoenix.topic()
        #expect(try phoenix.command() == .subscribe([SubscribeRequest(topic: topic, since: nil, replay: wanted)]))
        try phoenix.replay([try event(16), try event(17, id: "op-1")], upTo: 17)
        #expect(phoenix.heard() == [])
        try phoenix.answer(try Phoenix.subscribed(recovered: true))
        func broadcast(_ meta: String) -> String {
            Phoenix.message(
                version, Phoenix.order, "broadcast",
                "{\"type\":\"broadcast\",\"event\":\"e\",\"payload\":{\"n\":1},\"meta\":{\"replayed\":true,\(meta)}}",
                ref: nil, joinRef: "1")
        }
        #expect(
            phoenix.heard() == [
                Phoenix.reply(version, "ok", "{\"postgres_changes\":[]}", ref: "1"),
                broadcast("\"id\":\"k3x9:16\",\"epoch\":\"k3x9\",\"offset\":16"),
                broadcast("\"id\":\"op-1\",\"epoch\":\"k3x9\",\"offset\":17"),
            ])
    }

    /// What was published between the replay and the join cannot be missed in silence.
    @Test func aHoleBehindTheReplayIsTold() throws {
        var phoenix = join(.v2, "{\"replay\":{\"since\":0}}")
        try phoenix.replay([try event(3)], upTo: 3)
        try phoenix.answer(try Phoenix.subscribed(recovered: false))
        let heard = phoenix.heard()
        #expect(heard.count == 3)
        #expect(heard.last?.contains("\"extension\":\"gap\"") == true)
        // A topic without a past has none.
        var quiet = join(.v2, "{\"replay\":{\"since\":0}}")
        try quiet.answer(try Phoenix.subscribed(recovered: false))
        #expect(quiet.heard().count == 1)
    }

    @Test func bytesAreReplayedAsBytes() throws {
        var phoenix = join(.v2, "{\"replay\":{\"since\":0}}")
        try phoenix.replay([try event(3, "{\"$bytes\":\"AQID\"}", id: "a")], upTo: 3)
        try phoenix.answer(try Phoenix.subscribed(recovered: true))
        let meta = "{\"replayed\":true,\"id\":\"a\",\"epoch\":\"k3x9\",\"offset\":3}"
        let head = [4, UInt8(Phoenix.order.utf8.count), 1, UInt8(meta.utf8.count), 0]
        let frame = head + Array((Phoenix.order + "e" + meta).utf8) + [1, 2, 3]
        #expect(phoenix.heard().last == "bytes:" + Phoenix.hex(frame))
        var older = join(.v1, "{\"replay\":{\"since\":0}}")
        try older.replay([try event(3, "{\"$bytes\":\"AQID\"}", id: "a")], upTo: 3)
        try older.answer(try Phoenix.subscribed(recovered: true))
        #expect(older.heard().last?.contains("\"payload\":{\"$bytes\":\"AQID\"},\"meta\":\(meta)") == true)
    }

    @Test(arguments: [
        ("{\"since\":5}", 5, 25), ("{\"since\":5,\"limit\":null}", 5, 25), ("{\"since\":-5,\"limit\":0}", 0, 1),
        ("{\"since\":5,\"limit\":-1}", 5, 1),
        ("{\"since\":5,\"limit\":1000000}", 5, 25),
        ("{\"since\":9007199254740991,\"limit\":3}", 9_007_199_254_740_991, 3),
    ])
    func theLimitIsTheNearestThatIsAllowed(_ replay: String, _ sinceMs: Int, _ limit: Int) throws {
        let phoenix = join(.v2, "{\"replay\":\(replay)}")
        guard case .subscribe(let requests) = try phoenix.command() else { throw Wrong() }
        #expect(requests.map(\.replay) == [ReplayRequest(sinceMs: sinceMs, limit: limit)])
        #expect(requests[0].replay?.sinceMs == sinceMs && requests[0].replay?.limit == limit)
    }

    private struct Wrong: Error {}

    @Test(arguments: [
        "{}", "{\"limit\":3}", "{\"since\":\"5\"}", "{\"since\":1.5}", "{\"since\":1e3}", "{\"since\":null}",
        "{\"since\":5,\"limit\":\"3\"}", "{\"since\":5,\"limit\":2.5}", "{\"since\":5,\"limit\":true}",
        "{\"since\":9223372036854775808}",
        // No script reads these as a number: the join was refused as a fault of the gateway.
        "{\"since\":9007199254740992}", "{\"since\":4611686018427387904}",
    ])
    func whatIsNoTimeIsRefused(_ replay: String) throws {
        var phoenix = join(.v2, "{\"replay\":\(replay)}")
        try phoenix.answer()
        let reason = "UnableToReplayMessages: Replay params are not valid"
        #expect(phoenix.heard() == [Phoenix.refused(.v2, reason, ref: "1")])
    }

    @Test(arguments: ["null", "7", "[]", "true"])
    func aReplayThatIsNoObjectCountsAsAbsent(_ replay: String) throws {
        let phoenix = join(.v2, "{\"replay\":\(replay)}")
        #expect(try phoenix.command() == .subscribe([SubscribeRequest(topic: try Phoenix.topic(), since: nil)]))
    }

    /// A position is exact, so nothing is told by the clock beside it.
    @Test func aPositionCountsMoreThanATime() throws {
        let phoenix = join(.v2, "{\"since\":{\"epoch\":\"k3x9\",\"offset\":12},\"replay\":{\"since\":0}}")
        let request = SubscribeRequest(topic: try Phoenix.topic(), since: try Phoenix.position("k3x9", 12))
        #expect(try phoenix.command() == .subscribe([request]))
    }

    /// The replay of a join that another one took the place of is told to nobody.
    @Test func theReplayOfAnOlderJoinIsForgotten() throws {
        var phoenix = join(.v2, "{\"replay\":{\"since\":0}}")
        phoenix.send(Phoenix.join(.v2, Phoenix.order, ref: "2", "{}"))
        try phoenix.replay([try event(3)], upTo: 3)
        try phoenix.answer(.error(code: "conflict", message: "", topic: try Phoenix.topic()))
        _ = phoenix.heard()
        try phoenix.answer(try Phoenix.subscribed())
        #expect(phoenix.heard() == [Phoenix.reply(.v2, "ok", "{\"postgres_changes\":[]}", ref: "2", joinRef: "2")])
    }
}
