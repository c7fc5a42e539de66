import HTTPCodec
import Testing

@Suite struct UpgradeTests {
    @Test func handshakeIsGivenWithTheHead() throws {
        let found = try head(webSocket(more: "Sec-WebSocket-Protocol: b, a", "Sec-WebSocket-Protocol: c"))
        let upgrade = try #require(found.upgrade)
        #expect(upgrade.key == Array("dGhlIHNhbXBsZSBub25jZQ==".utf8))
        #expect(upgrade.protocols == ["b", "a", "c"].map { Array($0.utf8) })
        #expect(!found.keepAlive)
    }

    @Test(arguments: [
        "Upgrade: WebSocket", "Upgrade: h2c, websocket", "upgrade:websocket", "Upgrade: h2c\r\nUpgrade: WEBSOCKET",
        "Upgrade:  , websocket ,", "Upgrade:\twebsocket\t",
    ])
    func upgradeIsRecognised(_ line: String) throws {
        #expect(try head(webSocket(upgrade: line)).upgrade != nil)
    }

    @Test(arguments: ["Upgrade: websockets", "Upgrade: web socket", "Upgrade: websocket/13"])
    func otherWordsAreNoUpgrade(_ line: String) throws {
        #expect(try head(webSocket(upgrade: line)).upgrade == nil)
    }

    @Test(arguments: [
        "Connection: upgrade", "Connection: keep-alive\r\nConnection: UPGRADE", "Connection: Upgrade,",
        "Connection: keep-alive ,\tupgrade",
    ])
    func connectionIsAListWithoutCase(_ line: String) throws {
        #expect(try head(webSocket(connection: line)).upgrade != nil)
    }

    @Test func theKeyMayStandBetweenBlanks() throws {
        let line = "Sec-WebSocket-Key: \t dGhlIHNhbXBsZSBub25jZQ== "
        #expect(try head(webSocket(key: line)).upgrade?.key == Array("dGhlIHNhbXBsZSBub25jZQ==".utf8))
    }

    @Test func bytesBehindTheHandshakeAreLeft() {
        let transcript = Transcript(webSocket(rest: "\u{01}frame\r\n\r\n"))
        #expect(transcript.events.count == 1)
        #expect(transcript.remainder == Array("\u{01}frame\r\n\r\n".utf8))
    }

    /// If the gateway refuses the upgrade after all, nothing behind it may be taken for a request.
    @Test func requestBehindAnUpgradeIsNotParsed() {
        let transcript = Transcript(webSocket(rest: "GET /admin HTTP/1.1\r\nHost: a\r\n\r\n"))
        #expect(transcript.heads.count == 1)
        #expect(transcript.heads.first?.keepAlive == false)
    }

    @Test func upgradeToSomethingElseIsIgnored() throws {
        let found = try head(get("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk"))
        #expect(found.upgrade == nil)
        #expect(found.keepAlive)
    }

    @Test func handshakeAfterPlainRequestsOnOneConnection() {
        let transcript = Transcript(get() + post("Content-Length: 2", body: "40") + webSocket(rest: "x"))
        #expect(transcript.heads.count == 3)
        #expect(transcript.heads.last?.upgrade != nil)
        #expect(transcript.remainder == Array("x".utf8))
    }

    @Test func lengthZeroIsNoBody() throws {
        #expect(try head(webSocket(more: "Content-Length: 0")).upgrade != nil)
    }
}
