import Core
import Dialects
import TestSupport
import Testing

/// Connection state recovery: who may come back, to what, and that nothing is recovered in part.
@Suite struct SocketIORecoveryTests {
    /// Proves what it is given by its length and last byte: enough to tell texts of these tests apart.
    private static let dialect = SocketIODialect(
        namespaces: StandardTables.socketIONamespaces, settings: SocketIO.settings,
        prove: { text in Array("p\(text.count)x\(text.last ?? 0)".utf8) },
        makeID: { Array("id".utf8) })

    private func client(user: String? = nil) -> SocketIOClient {
        var client = SocketIOClient(SocketIORecoveryTests.dialect)
        client.user = user
        return client
    }

    private func subscribed(_ topic: String, _ offset: Int, recovered: Bool = false) throws -> ServerMessage {
        .subscribed(
            topic: try #require(Topic(topic)),
            position: try #require(Position(epoch: Array("k3x9".utf8), offset: offset)), recovered: recovered,
            state: nil)
    }

    // MARK: What is told

    @Test func aClientThatAsksForItIsToldWhereItStands() throws {
        var client = client()
        #expect(
            client.says("40/queue,{\"recovery\":true}") == [
                "open 1 -", "40/queue,{\"sid\":\"id\",\"pid\":\"id.p10x45\"}", "42/queue,[\"offset\",\".\"]",
            ])
        #expect(client.says("42/queue,1[\"subscribe\",{\"topic\":\"shop:1\"}]") == ["request 1 subscribe shop:1"])
        #expect(
            try client.told(subscribed("shop:1", 4)) == [
                "43/queue,1[{\"topic\":\"shop:1\",\"shopId\":\"1\",\"epoch\":\"k3x9\",\"offset\":4,\"recovered\":false}]",
                "42/queue,[\"offset\",\"shop:1 k3x9:4\"]",
            ])
        #expect(client.hears("shop:1", 5) == "42[\"e\",{},\"shop:1 k3x9:5\"]")
        #expect(client.says("42/queue,2[\"subscribe\",{\"topic\":\"dj:1\"}]") == ["request 1 subscribe dj:1"])
        #expect(try client.told(subscribed("dj:1", 0)).last == "42/queue,[\"offset\",\"shop:1 k3x9:5,dj:1 k3x9:0\"]")
        #expect(client.hears("shop:1", 6) == "42[\"e\",{},\"shop:1 k3x9:6,dj:1 k3x9:0\"]")
        #expect(
            try client.told(.unsubscribed(topic: #require(Topic("shop:1")))).last
                == "42/queue,[\"offset\",\"dj:1 k3x9:0\"]")
    }

    @Test func nobodyElseIs() throws {
        var client = client()
        #expect(client.says("40") == ["open 1 -", "40{\"sid\":\"id\"}"])
        #expect(client.says("42[\"subscribe\",{\"topic\":\"shop:1\"}]") == ["request 1 subscribe shop:1"])
        #expect(try client.told(subscribed("shop:1", 4)).count == 1)
        #expect(client.hears("shop:1", 5) == nil)
        #expect(client.machine.isDecorating == false)
    }

    /// Until what was missed has come, a client that is cut off again must come back to where it was before.
    @Test func whatIsMissedMovesTheClientWhenItComes() throws {
        var client = client()
        _ = client.says("40{\"recovery\":true}")
        _ = client.says(
            "421[\"subscribe\",{\"topic\":\"shop:1\",\"since\":{\"epoch\":\"k3x9\",\"offset\":2}}]")
        #expect(try client.told(subscribed("shop:1", 9, recovered: true)).count == 1)
        #expect(client.hears("shop:1", 3) == "42[\"e\",{},\"shop:1 k3x9:3\"]")
    }

    @Test func ofMoreTopicsThanFitNothingIsRecovered() throws {
        var client = client()
        _ = client.says("40{\"recovery\":true}")
        for number in 1...17 {
            _ = client.says("42[\"subscribe\",{\"topic\":\"shop:\(number)\"}]")
            let last = try client.told(subscribed("shop:\(number)", 0)).last
            #expect((last == "42[\"offset\",\"-\"]") == (number == 17), "\(number)")
        }
    }

    /// Requests that nobody answered by their topics were kept for as long as the client asked for more.
    @Test func topicsThatAreAskedForAreBounded() throws {
        var client = client()
        _ = client.says("40{\"recovery\":true}")
        for number in 1...65 {
            let since = "\"since\":{\"epoch\":\"k3x9\",\"offset\":2}"
            _ = client.says("42[\"subscribe\",{\"topic\":\"shop:\(number)\",\(since)}]")
        }
        for number in 1...65 {
            let topic = try #require(Topic("shop:\(number)"))
            _ = client.told(.error(Refusal(.forbidden, "no"), topic: topic), at: SessionID(1))
        }
        #expect(client.hears("shop:1", 1) == "42[\"e\",{},\"-\"]")
    }

    // MARK: Coming back

    private let offset = "shop:1 k3x9:5,dj:1 k3x9:0"

    private func returns(_ client: inout SocketIOClient, pid: String, offset: String, _ more: String = "") -> [String] {
        client.says("40/queue,{\"pid\":\"\(pid)\",\"offset\":\"\(offset)\",\"recovery\":true\(more)}")
    }

    @Test func whoComesBackHasEverythingBeforeItIsToldSo() throws {
        var client = client(user: "u1")
        #expect(
            returns(&client, pid: "old.p13x49", offset: offset) == ["open 1 -", "request 1 subscribe shop:1@5 dj:1@0"])
        #expect(try client.told(subscribed("dj:1", 2, recovered: true)) == [])
        #expect(client.hears("dj:1", 1) == "42[\"e\",{},\"shop:1 k3x9:5,dj:1 k3x9:1\"]")
        #expect(
            try client.told(subscribed("shop:1", 5, recovered: true)) == [
                "40/queue,{\"sid\":\"old\",\"pid\":\"old.p13x49\"}",
                "42/queue,[\"offset\",\"shop:1 k3x9:5,dj:1 k3x9:1\"]",
            ])
        #expect(client.says("42/queue,[\"ping\"]") == ["request 1 ping"])
    }

    @Test func whoHadNothingComesBackToNothing() {
        var client = client()
        #expect(
            returns(&client, pid: "old.p11x45", offset: ".") == [
                "open 1 -", "40/queue,{\"sid\":\"old\",\"pid\":\"old.p11x45\"}", "42/queue,[\"offset\",\".\"]",
            ])
    }

    /// A forged or foreign name, or a list that is none, gives a plain new session.
    @Test(arguments: [
        ("", "."), (".", "."), ("old", "."), ("old.p11x46", "."), ("old.p11x4", "."), ("older.p11x45", "."),
        ("o d.p11x45", "."), ("old.p11x45.p11x45", "."), ("old.p13x49", "."), ("old.p11x45", "-"), ("old.p11x45", ""),
        ("old.p11x45", "shop:1"), ("old.p11x45", "shop:1 k3x9"), ("old.p11x45", "shop:1 k3x9:05"),
        ("old.p11x45", "shop:1 k3x9:1,"), ("old.p11x45", "shop:1 k3x9:1,shop:1 k3x9:1"), ("old.p11x45", "no topic:1"),
    ])
    func whoIsNobodyBeginsAnew(_ pid: String, _ offset: String) {
        var client = client()
        #expect(
            returns(&client, pid: pid, offset: offset) == [
                "open 1 -", "40/queue,{\"sid\":\"id\",\"pid\":\"id.p10x45\"}", "42/queue,[\"offset\",\".\"]",
            ])
    }

    @Test func seventeenTopicsAreTooMany() {
        var client = client()
        let list = (1...17).map { "shop:\($0) k3x9:1" }.joined(separator: ",")
        #expect(returns(&client, pid: "old.p11x45", offset: list).count == 3)
    }

    @Test func nothingIsRecoveredInPart() throws {
        let failures: [ServerMessage] = [
            try subscribed("shop:1", 9), .error(Refusal(.forbidden, "no"), topic: Topic("shop:1")),
            .error(Refusal(.unavailable, "later"), topic: nil),
        ]
        for failure in failures {
            var client = client(user: "u1")
            _ = returns(&client, pid: "old.p13x49", offset: offset, ",\"token\":\"t\"")
            #expect(try client.told(subscribed("dj:1", 2, recovered: true)) == [])
            #expect(client.told(failure) == [])
            #expect(try client.told(subscribed("shop:1", 9, recovered: true)) == [])
            #expect(
                client.waits() == [
                    "end 1", "open 2 t", "40/queue,{\"sid\":\"id\",\"pid\":\"id.p12x49\"}",
                    "42/queue,[\"offset\",\".\"]",
                ])
        }
    }

    @Test func aClientThatWaitsIsNotInTheNamespace() {
        var client = client()
        _ = returns(&client, pid: "old.p11x45", offset: offset)
        #expect(client.says("42/queue,[\"ping\"]") == ["close bad_request"])
    }

    @Test(arguments: ["1", "\"yes\"", "[]"])
    func recoveryIsTrueOrFalse(_ value: String) {
        var client = client()
        #expect(client.says("40{\"recovery\":\(value)}").first?.hasPrefix("44{\"message\"") == true)
    }
}
