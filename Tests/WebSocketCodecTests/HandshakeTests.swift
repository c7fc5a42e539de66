import Core
import Testing
import WebSocketCodec

@Suite struct HandshakeTests {
    static let key = "dGhlIHNhbXBsZSBub25jZQ=="

    static func request(_ change: (inout WebSocketUpgrade) -> Void = { _ in }) -> WebSocketUpgrade {
        var request = WebSocketUpgrade(
            isGet: true, isHTTP11: true, hasBody: false, upgrade: lines("websocket"), connection: lines("Upgrade"),
            version: lines("13"), key: lines(key))
        change(&request)
        return request
    }

    static func lines(_ values: String...) -> [[UInt8]] { values.map { Array($0.utf8) } }

    @Test func `the request of RFC 6455 section 1.2 opens`() {
        #expect(WebSocketHandshake.check(Self.request()) == .success(Array(Self.key.utf8)))
        #expect(
            WebSocketHandshake.acceptInput(key: Array(Self.key.utf8))
                == Array("dGhlIHNhbXBsZSBub25jZQ==258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8))
    }

    @Test(arguments: [
        ["WebSocket"], ["h2c, websocket"], ["h2c", "WEBSOCKET"], [" , websocket ,"], ["\twebsocket\t"],
    ])
    func `Upgrade is a list without case`(values: [String]) {
        #expect(throws: Never.self) {
            try WebSocketHandshake.check(Self.request { $0.upgrade = values.map { Array($0.utf8) } }).get()
        }
    }

    @Test(arguments: [
        ["upgrade"], ["keep-alive, Upgrade"], ["keep-alive", "UPGRADE"], ["Upgrade,"], ["keep-alive ,\tupgrade"],
    ])
    func `Connection is a list without case`(values: [String]) {
        #expect(throws: Never.self) {
            try WebSocketHandshake.check(Self.request { $0.connection = values.map { Array($0.utf8) } }).get()
        }
    }

    static let broken: [(WebSocketHandshakeFailure, WebSocketUpgrade)] = [
        (.methodNotGet, request { $0.isGet = false }),
        (.versionTooOld, request { $0.isHTTP11 = false }),
        (.hasBody, request { $0.hasBody = true }),
        (.notAnUpgrade, request { $0.upgrade = [] }),
        (.notAnUpgrade, request { $0.upgrade = lines("websockets") }),
        (.notAnUpgrade, request { $0.upgrade = lines("web socket") }),
        (.notAnUpgrade, request { $0.upgrade = lines("websocket/13") }),
        (.connectionNotUpgrade, request { $0.connection = lines("keep-alive") }),
        (.connectionNotUpgrade, request { $0.connection = [] }),
        (.versionUnsupported, request { $0.version = [] }),
        (.versionUnsupported, request { $0.version = lines("8") }),
        (.versionUnsupported, request { $0.version = lines("013") }),
        (.versionUnsupported, request { $0.version = lines("13, 8") }),
        (.versionUnsupported, request { $0.version = lines("") }),
        (.fieldRepeated, request { $0.version = lines("13", "13") }),
        (.fieldRepeated, request { $0.key = lines(key, key) }),
        (.keyInvalid, request { $0.key = [] }),
        (.keyInvalid, request { $0.key = lines("") }),
        (.keyInvalid, request { $0.key = lines("dGhlIHNhbXBsZSBub25jZQ") }),
        (.keyInvalid, request { $0.key = lines("dGhlIHNhbXBsZSBub25jZQ=\u{e9}") }),
        (.keyInvalid, request { $0.key = lines("dGhlIHNhbXBsZSBub25jZR==") }),
        (.keyInvalid, request { $0.key = lines("dGhlIHNhbXBsZSBub25jZTE=") }),
        (.keyInvalid, request { $0.key = lines("dGhlIHNhbXBsZSBub25j") }),
        (.keyInvalid, request { $0.key = lines("dGhlIHNhbXBsZSBub25jZQ== x") }),
        (.keyInvalid, request { $0.key = lines(String(repeating: "A", count: 8_192)) }),
    ]

    @Test(arguments: broken.indices)
    func `each broken rule is named`(index: Int) {
        let (failure, request) = Self.broken[index]
        #expect(WebSocketHandshake.check(request) == .failure(failure))
    }

    @Test func `the key may stand between spaces`() {
        let padded = Self.request { $0.key = Self.lines(" \t" + Self.key + " ") }
        #expect(WebSocketHandshake.check(padded) == .success(Array(Self.key.utf8)))
    }

    @Test(arguments: WebSocketHandshakeFailure.allCases)
    func `statuses carry the fields that RFC 9110 requires`(failure: WebSocketHandshakeFailure) {
        let names = failure.headers.map(\.name)
        switch failure {
        case .methodNotGet:
            #expect(failure.httpStatus == 405 && names == ["Allow"])
        case .notAnUpgrade, .versionUnsupported:
            #expect(failure.httpStatus == 426)
            #expect(names == ["Upgrade", "Connection", "Sec-WebSocket-Version"])
            #expect(failure.headers.last?.value == "13")
        default:
            #expect(failure.httpStatus == 400 && names.isEmpty)
        }
        #expect(failure.refusal.code == .badRequest && failure.refusal.message.hasSuffix("."))
    }

    // MARK: Subprotocols

    @Test(
        arguments: [
            ([], nil), (["switchboard"], "switchboard"), (["b, a"], "b"), (["x", "a"], "a"), (["A"], nil),
            (["x, y"], nil), ([", ,a"], "a"), ([""], nil), (["a, a"], "a"), (["ab"], nil),
        ] as [([String], String?)])
    func `the client's first known subprotocol is chosen`(offered: [String], chosen: String?) {
        let result = WebSocketHandshake.selectSubprotocol(
            offered: offered.map { Array($0.utf8) }, supported: ["a", "b", "switchboard"])
        #expect(result == .success(chosen))
    }

    @Test(arguments: ["a b", "a, \u{e9}", "a;q=1", "\"a\"", "a, (x)", "a\u{0}", "a, b/c"])
    func `what is no token is refused, even behind a known one`(offered: String) {
        let result = WebSocketHandshake.selectSubprotocol(offered: [Array(offered.utf8)], supported: ["a"])
        #expect(result == .failure(.subprotocolInvalid))
    }
}
