import Testing
import WebSocketCodec

@Suite struct ClientHandshakeTests {
    static let key = Array("dGhlIHNhbXBsZSBub25jZQ==".utf8)
    static let accept = Array("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=".utf8)
    static let answer =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"

    static func check(_ text: String, headBytesMax: Int = 4_096) -> WebSocketClientHandshake.Answer {
        WebSocketClientHandshake.check(
            Array(text.utf8), headBytesMax: headBytesMax, accept: accept, subprotocols: ["a", "b"])
    }

    // MARK: Request

    @Test func `the request holds every required field`() throws {
        let request = try WebSocketClientHandshake.request(
            host: "localhost:8080", path: "/ws?x=1", key: Self.key, subprotocols: ["a", "b"],
            headers: [("Authorization", "Bearer x.y.z")])
        let expected =
            "GET /ws?x=1 HTTP/1.1\r\nHost: localhost:8080\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            + "Sec-WebSocket-Protocol: a, b\r\nAuthorization: Bearer x.y.z\r\n\r\n"
        #expect(request == Array(expected.utf8))
    }

    @Test(arguments: ["", "a b", "a\r\nX: y", "h\u{e9}"])
    func `a host that would break the request is refused`(host: String) {
        #expect(throws: WebSocketClientHandshake.RequestFailure.host) {
            try WebSocketClientHandshake.request(host: host, path: "/", key: Self.key, subprotocols: [], headers: [])
        }
    }

    @Test(arguments: ["", "ws", "/a b", "/a\r\n", "/a#b", "/\u{e9}", "/\u{0}"])
    func `a path that would break the request is refused`(path: String) {
        #expect(throws: WebSocketClientHandshake.RequestFailure.path) {
            try WebSocketClientHandshake.request(host: "h", path: path, key: Self.key, subprotocols: [], headers: [])
        }
    }

    @Test(arguments: [
        ("Host", "x"), ("Sec-WebSocket-Key", "x"), ("connection", "x"), ("UPGRADE", "x"), ("Content-Length", "1"),
        ("X Y", "x"), ("", "x"), ("X", "a\r\nEvil: 1"), ("X", "a\nb"), ("X", "\u{0}"), ("X", "\u{e9}"), ("X:", "x"),
    ])
    func `an extra field that would break the request is refused`(name: String, value: String) {
        #expect(throws: WebSocketClientHandshake.RequestFailure.header(name)) {
            try WebSocketClientHandshake.request(
                host: "h", path: "/", key: Self.key, subprotocols: [], headers: [(name, value)])
        }
    }

    @Test func `a key or subprotocol that would break the request is refused`() {
        #expect(throws: WebSocketClientHandshake.RequestFailure.key) {
            try WebSocketClientHandshake.request(host: "h", path: "/", key: [0x41], subprotocols: [], headers: [])
        }
        #expect(throws: WebSocketClientHandshake.RequestFailure.header("Sec-WebSocket-Protocol")) {
            try WebSocketClientHandshake.request(
                host: "h", path: "/", key: Self.key, subprotocols: ["a\r\n"], headers: [])
        }
    }

    // MARK: Answer

    @Test func `a good answer opens, and frames behind it are left alone`() {
        let head = Self.answer + "\r\n"
        #expect(Self.check(head) == .open(headBytes: head.utf8.count, subprotocol: nil))
        #expect(Self.check(head + "\u{1}\u{2}\r\n\r\n") == .open(headBytes: head.utf8.count, subprotocol: nil))
        let chosen = Self.answer + "sec-websocket-protocol:b\r\n\r\n"
        #expect(Self.check(chosen) == .open(headBytes: chosen.utf8.count, subprotocol: "b"))
    }

    @Test func `an answer must agree on deflating where that was offered`() throws {
        let request = try WebSocketClientHandshake.request(
            host: "h", path: "/", key: Self.key, subprotocols: [], headers: [], deflates: true)
        let offer = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
        #expect(String(decoding: request, as: UTF8.self).contains("Sec-WebSocket-Extensions: \(offer)\r\n"))
        func check(_ extensions: String) -> WebSocketClientHandshake.Answer {
            let answer = Self.answer + extensions + "\r\n"
            return WebSocketClientHandshake.check(
                Array(answer.utf8), headBytesMax: 4_096, accept: Self.accept, subprotocols: [], deflates: true)
        }
        let field = "Sec-WebSocket-Extensions: "
        let good = Self.answer + field + offer + "\r\n\r\n"
        #expect(check(field + offer + "\r\n") == .open(headBytes: good.utf8.count, subprotocol: nil))
        #expect(check("") == .failed(.extensionDeclined))
        #expect(check(field + "x-webkit-deflate-frame\r\n") == .failed(.extensionDeclined))
        #expect(check(field + offer + "; server_max_window_bits=9\r\n") == .failed(.extensionDeclined))
    }

    @Test func `every prefix of a good answer is incomplete`() {
        let head = Array((Self.answer + "\r\n").utf8)
        for count in 0..<head.count {
            let answer = WebSocketClientHandshake.check(
                Array(head[..<count]), headBytesMax: head.count, accept: Self.accept, subprotocols: [])
            #expect(answer == .incomplete, "after \(count) bytes")
        }
    }

    @Test(arguments: [
        ("HTTP/1.1 401 Unauthorized\r\n\r\n", 401), ("HTTP/1.1 426\r\nUpgrade: websocket\r\n\r\n", 426),
        ("HTTP/1.1 200 \r\n\r\n", 200),
    ])
    func `another status is told`(text: String, status: Int) {
        #expect(Self.check(text) == .refused(status: status))
    }

    static let broken: [(String, WebSocketClientHandshake.AnswerFailure)] = [
        ("HTTP/1.0 101 x\r\n\r\n", .notHTTP), ("-ERR", .notHTTP), ("HTTP/2", .notHTTP), ("h", .notHTTP),
        ("HTTP/1.1 1x1 y\r\n\r\n", .notHTTP), ("HTTP/1.1 1011\r\n\r\n", .notHTTP), ("HTTP/1.1 099 x\r\n\r\n", .notHTTP),
        ("HTTP/1.1 \r\n\r\n", .notHTTP),
        (answer + "no colon\r\n\r\n", .malformedField), (answer + " folded: x\r\n\r\n", .malformedField),
        (answer + "A : x\r\n\r\n", .malformedField), (answer + ": x\r\n\r\n", .malformedField),
        (answer + "A: x\n\r\n", .malformedField), (answer + "A: x\rB: y\r\n\r\n", .malformedField),
        (answer + "A: \u{0}\r\n\r\n", .malformedField),
        ("HTTP/1.1 101 x\r\nConnection: upgrade\r\n\r\n", .upgrade),
        ("HTTP/1.1 101 x\r\nUpgrade: websocket\r\n\r\n", .connection),
        ("HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n", .accept),
        (answer.replacing("s3pP", with: "S3pP") + "\r\n", .accept),
        (answer + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n", .accept),
        (answer + "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n", .unofferedExtension),
        (answer + "Sec-WebSocket-Protocol: c\r\n\r\n", .unofferedSubprotocol),
        (answer + "Sec-WebSocket-Protocol: a, b\r\n\r\n", .unofferedSubprotocol),
        (answer + "Sec-WebSocket-Protocol: a\r\nSec-WebSocket-Protocol: a\r\n\r\n", .unofferedSubprotocol),
    ]

    @Test(arguments: broken.indices)
    func `each broken rule is named`(index: Int) {
        let (text, failure) = Self.broken[index]
        #expect(Self.check(text) == .failed(failure))
    }

    @Test func `a head of the limit passes, one byte more fails, and so does one that never ends`() {
        let head = Self.answer + "\r\n"
        let count = head.utf8.count
        #expect(Self.check(head, headBytesMax: count) == .open(headBytes: count, subprotocol: nil))
        #expect(Self.check(head, headBytesMax: count - 1) == .failed(.headTooLong))
        let endless = "HTTP/1.1 101 x\r\nA: " + String(repeating: "a", count: 5_000)
        #expect(Self.check(endless) == .failed(.headTooLong))
        #expect(Self.check(head, headBytesMax: -1) == .failed(.headTooLong))
    }
}
