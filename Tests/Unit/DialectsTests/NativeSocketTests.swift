import Core
import TestSupport
import Testing

@testable import Dialects

/// What the rules of a path make of a native client's messages.
@Suite struct NativeSocketTests {
    private func client(_ rules: SocketRules, _ values: [String: [UInt8]] = [:]) throws -> NativeMachine {
        NativeMachine(Native.dialect.at(try #require(NativeSocket(rules, values))))
    }

    private var dj: SocketRules { StandardTables.sockets["/dj"] ?? SocketRules() }

    /// What a message asks.
    private func asks(_ client: inout NativeMachine, _ text: String) throws -> ClientCommand {
        var steps: [DialectStep] = []
        client.received(Array(text.utf8), as: .binary, nowMs: 0, &steps)
        guard case .request(.main, .success(let request))? = steps.first, steps.count == 1 else {
            throw Refused()
        }
        return request.command
    }

    private func known(_ client: inout NativeMachine) throws -> [String: [UInt8]] {
        guard case .command(_, let arguments) = try asks(&client, "{\"event\":\"vote\"}") else { throw Refused() }
        return arguments.known
    }

    /// What the client is told, and which topics are asked for in its name then.
    private func told(_ client: inout NativeMachine, _ message: ServerMessage) -> (text: String, joins: [Topic]) {
        var steps: [DialectStep] = []
        client.send(message, at: .main, ref: nil, &steps)
        var text = ""
        if case .say(let unit)? = steps.first { text = String(decoding: unit.bytes, as: UTF8.self) }
        return (text, joins(steps))
    }

    private func joins(_ steps: [DialectStep]) -> [Topic] {
        steps.flatMap { step -> [Topic] in
            guard case .request(_, .success(let request)) = step, case .subscribe(let topics) = request.command else {
                return []
            }
            return topics.map(\.topic)
        }
    }

    private func subscribed(_ topic: Topic) throws -> ServerMessage {
        .subscribed(topic: topic, position: try Native.position("a", 1), recovered: false, state: nil)
    }

    private struct Refused: Error {}

    @Test func anAliasNamesAnotherNamespace() throws {
        var client = try client(dj)
        let topic = try Native.topic("dj:42")
        for data in [
            "{\"shopId\":\"42\"}", "{\"shopId\":42}", "{\"djId\":\"42\"}", "{\"topic\":\"dj:42\",\"shopId\":\"42\"}",
        ] {
            let command = try asks(&client, "{\"event\":\"subscribe\",\"data\":\(data)}")
            #expect(command == .subscribe([SubscribeRequest(topic: topic, since: nil)]), "\(data)")
        }
        let text = told(&client, try subscribed(topic)).text
        #expect(text.contains("\"topic\":\"dj:42\",\"djId\":\"42\",\"shopId\":\"42\""), "\(text)")
        #expect(told(&client, .unsubscribed(topic: topic)).text.contains("\"shopId\":\"42\""))
        // Elsewhere a shop is a shop.
        var plain = try self.client(SocketRules())
        let shop = try asks(&plain, "{\"event\":\"subscribe\",\"data\":{\"shopId\":\"42\"}}")
        #expect(shop == .subscribe([SubscribeRequest(topic: try Native.topic("shop:42"), since: nil)]))
        #expect(!told(&plain, try subscribed(topic)).text.contains("shopId"))
    }

    @Test func theLastShopIsKnown() throws {
        var client = try client(dj)
        #expect(try known(&client) == [:])
        for shop in ["1", "2"] { _ = try asks(&client, "{\"event\":\"subscribe\",\"data\":{\"shopId\":\"\(shop)\"}}") }
        #expect(try known(&client) == ["shopId": Array("2".utf8)])
        // One that is refused was never there; one that is lost or left is known no more.
        _ = told(&client, try subscribed(try Native.topic("dj:1")))
        _ = told(&client, .error(code: "forbidden", message: "", topic: try Native.topic("dj:2")))
        #expect(try known(&client) == ["shopId": Array("1".utf8)])
        _ = told(&client, .error(code: "rate_limited", message: "", topic: try Native.topic("dj:1")))
        #expect(try known(&client) == ["shopId": Array("1".utf8)])
        _ = told(&client, .unsubscribed(topic: try Native.topic("dj:1")))
        #expect(try known(&client) == [:])
        // What the client asked for since then is not undone by an older answer.
        _ = try asks(&client, "{\"event\":\"subscribe\",\"data\":{\"shopId\":\"3\"}}")
        _ = try asks(&client, "{\"event\":\"unsubscribe\",\"data\":{\"shopId\":\"3\"}}")
        #expect(try known(&client) == [:])
        _ = try asks(&client, "{\"event\":\"subscribe\",\"data\":{\"shopId\":\"3\"}}")
        _ = told(&client, .error(code: "conflict", message: "", topic: try Native.topic("dj:3")))
        _ = told(&client, .unsubscribed(topic: try Native.topic("dj:3")))
        #expect(try known(&client) == ["shopId": Array("3".utf8)])
    }

    @Test func topicsOfTheUserAreJoinedOnce() throws {
        let user = Array("u1".utf8)
        let topic = try Native.topic("user:u1")
        var client = try client(dj)
        var steps: [DialectStep] = []
        client.opened(.main, by: nil, &steps)
        #expect(joins(steps).isEmpty)
        #expect(told(&client, .authenticated(userID: [], expiresAt: 0)).joins.isEmpty)
        #expect(told(&client, .authenticated(userID: user, expiresAt: 1)).joins == [topic])
        #expect(told(&client, .authenticated(userID: user, expiresAt: 2)).joins.isEmpty)
        var header = try self.client(dj)
        header.opened(.main, by: user, &steps)
        #expect(joins(steps) == [topic])
        #expect(told(&header, .authenticated(userID: user, expiresAt: 1)).joins.isEmpty)
    }

    @Test func aStateIsAnEventWhereTheSocketSaysSo() throws {
        let event = try #require(EventName("queue:update"))
        let position = try Native.position("e", 3)
        for (namespace, state, isTold) in [("shop", "{\"n\":1}", true), ("shop", nil, false), ("dj", "{}", false)] {
            var client = try client(SocketRules(first: ["shop": event]))
            var steps: [DialectStep] = []
            let topic = try Native.topic(namespace + ":42")
            let message = ServerMessage.subscribed(
                topic: topic, position: position, recovered: false, state: state.map { Array($0.utf8) })
            client.send(message, at: .main, ref: nil, &steps)
            let said = steps.compactMap { step -> String? in
                guard case .say(let unit) = step else { return nil }
                return String(decoding: unit.bytes, as: UTF8.self)
            }
            let first = #"{"topic":"shop:42","event":"queue:update","data":{"n":1}}"#
            #expect(said.count == (isTold ? 2 : 1) && (!isTold || said.last == first), "\(said)")
        }
    }

    @Test func thePathSaysTopicsAndArguments() throws {
        let join = try ["session:{sessionId}", "session:{sessionId}", "user:{sub}"].map {
            try #require(TopicTemplate($0))
        }
        let rules = SocketRules(join: join, fill: ["sessionId"], foldsPath: true)
        var client = try client(rules, ["sessionId": Array("8E2F".utf8)])
        #expect(try known(&client) == ["sessionId": Array("8e2f".utf8)])
        var steps: [DialectStep] = []
        client.opened(.main, by: Array("U1".utf8), &steps)
        #expect(joins(steps) == [try Native.topic("session:8e2f"), try Native.topic("user:U1")])
        for wrong in ["a b", "", "a/b", "\u{e9}"] {
            #expect(NativeSocket(rules, ["sessionId": Array(wrong.utf8)]) == nil, "\(wrong)")
        }
        #expect(NativeSocket(rules, [:]) == nil)
    }
}
