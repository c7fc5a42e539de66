import Testing
import WebSocketCodec

@Suite struct HandshakeTests {
    static let key = "dGhlIHNhbXBsZSBub25jZQ=="

    @Test func `the accept value is made of the key and the constant of RFC 6455 section 1.3`() {
        #expect(WebSocketHandshake.isKey(Array(Self.key.utf8)))
        #expect(
            WebSocketHandshake.acceptInput(key: Array(Self.key.utf8))
                == Array("dGhlIHNhbXBsZSBub25jZQ==258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8))
    }

    @Test(arguments: [
        "", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZQ=\u{e9}", "dGhlIHNhbXBsZSBub25jZR==",
        "dGhlIHNhbXBsZSBub25jZTE=", "dGhlIHNhbXBsZSBub25j", "dGhlIHNhbXBsZSBub25jZQ== x", " dGhlIHNhbXBsZSBub25jZQ==",
        String(repeating: "A", count: 8_192),
    ])
    func `what is no key is told`(text: String) {
        #expect(!WebSocketHandshake.isKey(Array(text.utf8)))
    }
}
