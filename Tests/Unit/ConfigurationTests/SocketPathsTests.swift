import Configuration
import Core
import TestSupport
import Testing

/// The config file's rules of WebSockets by path.
@Suite struct SocketPathsTests {
    private func sockets(_ object: String) -> CommandLineResult {
        read(plain, file: "{\"sockets\": " + object + "}")
    }

    @Test func eachPathHasTheRulesOfTheFile() throws {
        let settings = try #require(
            gateway(
                sockets(
                    #"""
                    {"/dj": {"join": ["shop:42"]}, "/social": null,
                     "/rooms/{id}": {"join": ["session:{id}", "user:{sub}"], "alias": {"roomId": "session"},
                                     "fill": ["roomId"], "fold": "lower"}}
                    """#)))
        #expect(settings.sockets["/dj"] == SocketRules(join: [try #require(TopicTemplate("shop:42"))]))
        #expect(settings.sockets["/social"] == nil)
        let join = [try #require(TopicTemplate("session:{id}")), try #require(TopicTemplate("user:{sub}"))]
        #expect(
            settings.sockets["/rooms/{id}"]
                == SocketRules(join: join, alias: ["roomId": "session"], fill: ["roomId"], foldsPath: true))
        #expect(settings.sockets["/queue"] == StandardTables.sockets["/queue"])
        let text = settings.describe()
        #expect(text.contains("sockets./social") && text.contains("closed"))
        #expect(text.contains("join=session:{id},user:{sub} alias=roomId:session fill=roomId fold=lower"))
        #expect(gateway(read(plain))?.sockets == StandardTables.sockets)
    }

    @Test(arguments: [
        (#"[]"#, "sockets: expected an object of paths; got an array"),
        (#"{"dj": {}}"#, "sockets.dj: expected a path such as /dj or /shops/{shopId}"),
        (#"{"/realtime/v1/websocket": {}}"#, "another protocol is spoken at this path"),
        (#"{"/a/{x}": {}, "/a/{y}": {}}"#, "sockets./a/{y}: takes the same paths as /a/{x}"),
        (#"{"/a/{sub}": {}}"#, "is the client's user"), (#"{"/a": 1}"#, "expected an object, or null to close it"),
        (#"{"/a": {"joins": []}}"#, "unknown key; did you mean join?"),
        (#"{"/a": {"join": "shop:1"}}"#, "expected an array of strings; got a string"),
        (#"{"/a": {"join": [1]}}"#, "expected strings in the array"),
        (#"{"/a": {"join": ["shop"]}}"#, "expected a topic such as shop:42 or session:{id}; got \"shop\""),
        (#"{"/a": {"join": ["shop:{x}"]}}"#, "{x} is no part of the path"),
        (#"{"/a": {"join": ["nowhere:1"]}}"#, "sockets./a.join: there is no namespace nowhere"),
        (#"{"/a": {"alias": {"shopId": "nowhere"}}}"#, "sockets./a.alias.shopId: there is no namespace nowhere"),
        (#"{"/a": {"alias": {"shop": "dj"}}}"#, "expected a name that ends in Id"),
        (#"{"/a": {"alias": {"shopId": "DJ"}}}"#, "expected a namespace"), (#"{"/a": {"alias": []}}"#, "such as"),
        (#"{"/a": {"fill": ["userId"]}}"#, "and not userId; got \"userId\""),
        (#"{"/a": {"fold": "upper"}}"#, "expected \"lower\""),
        (#"{"/a": {"socketio": false}}"#, "sockets./a.socketio: expected true, or leave it out"),
        (#"{"/a": {"socketio": "yes"}}"#, "sockets./a.socketio: expected true, or leave it out"),
        (#"{"/a/{x}": {"socketio": true}}"#, "the path cannot be a Socket.IO namespace: expected a slash and 1 to 32"),
        (#"{"/a/b": {"socketio": true}}"#, "the path cannot be a Socket.IO namespace: expected a slash and 1 to 32"),
        (#"{"/a": {"socketIO": true}}"#, "unknown key; did you mean socketio?"),
        (
            "{\"/a\": {\"join\": [" + (0...16).map { "\"shop:\($0)\"" }.joined(separator: ",") + "]}}",
            "a socket joins at most 16 topics by itself"
        ),
    ])
    func aMistakeIsToldByItsPlace(_ object: String, _ text: String) {
        let told = problems(sockets(object))
        #expect(told.contains { $0.contains(text) }, "\(told)")
    }
}
