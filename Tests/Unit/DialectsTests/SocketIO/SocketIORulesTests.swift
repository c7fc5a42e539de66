import Core
import Dialects
import TestSupport
import Testing

/// What a namespace of Socket.IO brings with it: the rules of the socket of the same name.
@Suite struct SocketIORulesTests {
    private static let dialect = SocketIODialect(
        namespaces: StandardTables.socketIONamespaces, rules: StandardTables.sockets, settings: SocketIO.settings
    ) { Array("id".utf8) }

    private func subscribed(_ topic: String) throws -> ServerMessage {
        .subscribed(
            topic: try #require(Topic(topic)), position: try #require(Position(epoch: Array("e".utf8), offset: 1)),
            recovered: false, state: nil)
    }

    /// A client in `/dj` whose `shopId` meant the barbers' queue heard no track.
    @Test func anAliasNamesAnotherNamespaceWhereTheRulesSaySo() throws {
        var client = SocketIOClient(Self.dialect, in: ["/dj", "/queue"])
        #expect(client.says("42/dj,1[\"subscribe\",{\"shopId\":\"42\"}]") == ["request 1 subscribe dj:42"])
        #expect(
            try client.told(subscribed("dj:42")) == [
                "43/dj,1[{\"topic\":\"dj:42\",\"djId\":\"42\",\"shopId\":\"42\",\"epoch\":\"e\",\"offset\":1,"
                    + "\"recovered\":false}]"
            ])
        #expect(client.says("42/queue,1[\"subscribe\",{\"shopId\":\"42\"}]") == ["request 2 subscribe shop:42"])
    }

    /// A vote in `/dj` that left out its shop was refused.
    @Test func aCommandIsFilledInFromTheTopicsOfItsNamespace() throws {
        var client = SocketIOClient(Self.dialect, in: ["/dj", "/queue"])
        #expect(client.says("42/dj,[\"vote\",{\"trackId\":\"t\"}]") == ["request 1 command vote {\"trackId\":\"t\"}"])
        _ = client.says("42/dj,[\"subscribe\",{\"shopId\":\"42\"}]")
        let filled = "request 1 command vote {\"trackId\":\"t\"} shopId=42"
        #expect(client.says("42/dj,[\"vote\",{\"trackId\":\"t\"}]") == [filled])
        // Another namespace is another stay: it knows nothing of it, and fills in nothing.
        #expect(client.says("42/queue,[\"vote\",{}]") == ["request 2 command vote {}"])
        // Whoever comes back starts anew.
        _ = client.says("41/dj,")
        _ = client.says("40/dj,")
        #expect(client.says("42/dj,[\"vote\",{}]") == ["request 3 command vote {}"])
    }

    /// The app awaits `booking:status_change` in `/bookings` and joins nothing there.
    @Test func theTopicsOfTheUserAreJoinedOnceInEachNamespaceThatSaysSo() {
        var client = SocketIOClient(Self.dialect)
        client.user = "u1"
        #expect(client.says("40") == ["open 1 -", "40{\"sid\":\"id\"}"])
        let entered = ["open 2 -", "40/bookings,{\"sid\":\"id\"}", "request 2 subscribe user:u1"]
        #expect(client.says("40/bookings,") == entered)
        client.user = nil
        #expect(client.says("40/social,") == ["open 3 -", "40/social,{\"sid\":\"id\"}"])
        #expect(client.says("42/social,[\"authenticate\",\"jwt\"]") == ["request 3 authenticate jwt"])
        let authenticated = ServerMessage.authenticated(userID: Array("u2".utf8), expiresAt: 9)
        #expect(
            client.told(authenticated, at: SessionID(3)) == [
                "42/social,[\"authenticated\",{\"userId\":\"u2\",\"expiresAt\":9}]", "request 3 subscribe user:u2",
            ])
        #expect(client.told(authenticated, at: SessionID(3)).count == 1)
    }

    /// A client that comes back has its topics already; joining its own anew would begin behind what it has missed.
    @Test func whoeverComesBackIsJoinedByItsPlacesAlone() throws {
        let dialect = SocketIODialect(
            namespaces: StandardTables.socketIONamespaces, rules: StandardTables.sockets, settings: SocketIO.settings,
            prove: { Array("p\($0.count)".utf8) }, makeID: { Array("id".utf8) })
        var client = SocketIOClient(dialect)
        client.user = "u1"
        #expect(client.says("40/dj,{\"recovery\":true}").last == "request 1 subscribe user:u1")
        var again = SocketIOClient(dialect)
        again.user = "u1"
        let shown = "{\"pid\":\"id.p9\",\"offset\":\"user:u1 k3x9:4,dj:42 k3x9:5\",\"recovery\":true}"
        #expect(again.says("40/dj," + shown) == ["open 1 -", "request 1 subscribe user:u1@4 dj:42@5"])
        for (name, offset) in [("user:u1", 4), ("dj:42", 5)] {
            let position = try #require(Position(epoch: Array("k3x9".utf8), offset: offset))
            let topic = try #require(Topic(name))
            let heard = again.told(
                .subscribed(topic: topic, position: position, recovered: true, state: nil), at: SessionID(1))
            #expect(!heard.contains { $0.hasPrefix("request") })
        }
        #expect(again.says("42/dj,[\"vote\",{}]") == ["request 1 command vote {} shopId=42"])
    }
}
