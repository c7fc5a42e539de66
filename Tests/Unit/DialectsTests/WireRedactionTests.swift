import Testing

@testable import Dialects

/// No credential of a client passes on to an operator who watches its wire.
@Suite struct WireRedactionTests {
    private static let token =
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.3ig1vKb0E5m2mJxzLrZJYhWn0r3n0u2lVnX8dQq2cXk"

    private static func shown(_ message: String, bytesMax: Int = 2_048) -> String {
        String(decoding: WireRedaction.text(Array(message.utf8), bytesMax: bytesMax).text, as: UTF8.self)
    }

    /// A message of each dialect with a credential, and what is shown of it.
    static let messages: [(String, String)] = [
        // Native.
        (
            #"{"event":"authenticate","data":{"token":"opaque"},"ref":1}"#,
            #"{"event":"authenticate","data":{"token":"***"},"ref":1}"#
        ),
        (#"{"data":"opaque","event":"authenticate"}"#, #"{"data":"***","event":"authenticate"}"#),
        (#"{"data":"opaque","event":"\u0061uthenticate"}"#, #"{"data":"***","event":"\u0061uthenticate"}"#),
        // Phoenix.
        (
            #"["1","1","realtime:shop:42","phx_join",{"config":{"private":true},"access_token":"opaque"}]"#,
            #"["1","1","realtime:shop:42","phx_join",{"config":{"private":true},"access_token":"***"}]"#
        ),
        (
            #"{"topic":"t","event":"access_token","payload":{"user_token" : "opaque"}}"#,
            #"{"topic":"t","event":"access_token","payload":{"user_token" : "***"}}"#
        ),
        // Socket.IO and Engine.IO.
        (#"40/dj,{"token":"opaque","positions":true}"#, #"40/dj,{"token":"***","positions":true}"#),
        (#"42["authenticate","opaque"]"#, #"42["authenticate","***"]"#),
        (#"0{"sid":"lv_VI97HAXpY6yYWAAAC","upgrades":["websocket"]}"#, #"0{"sid":"***","upgrades":["websocket"]}"#),
        (#"40{"sid":"a","pid":"b","offset":"c"}"#, #"40{"sid":"***","pid":"***","offset":"c"}"#),
        // Event streams, and answers with tokens for others.
        ("event: x\ndata: {\"guestToken\":\"opaque\"}\n\n", "event: x\ndata: {\"guestToken\":\"***\"}\n\n"),
        (
            #"{"data":{"tokens":[1],"api-key":"k","refresh_token":null}}"#,
            #"{"data":{"tokens":[1],"api-key":"***","refresh_token":***}}"#
        ),
        (
            #"{"authorization":{"kind":"x","value":["y",7]},"n":1}"#,
            #"{"authorization":{"kind":"***","value":["***",***]},"n":1}"#
        ),
        // Wherever it stands.
        (#"{"text":"my token is \#(token)!"}"#, #"{"text":"my token is ***!"}"#),
        (
            #"{"url":"wss://x/ws?vsn=2&apikey=abc&token=d%2Ee&x=1"}"#,
            #"{"url":"wss://x/ws?vsn=2&apikey=***&token=***&x=1"}"#
        ),
        ("Authorization: Bearer opaque-1, x", "Authorization: Bearer ***, x"),
        // What is no credential stays.
        (
            #"{"event":"order:paid","data":{"cents":1250,"at":"2026-11-26T09:12:44.120Z","v":"1.2.3"}}"#,
            #"{"event":"order:paid","data":{"cents":1250,"at":"2026-11-26T09:12:44.120Z","v":"1.2.3"}}"#
        ),
        (#"{"event":"token:expiring","data":{"expiresAt":1}}"#, #"{"event":"token:expiring","data":{"expiresAt":1}}"#),
        (#"{"a":"\"token\":\"x","id":"x1nq4G0b.0.1711"}"#, #"{"a":"\"token\":\"x","id":"x1nq4G0b.0.1711"}"#),
        ("", ""), ("2", "2"), ("\"", "\""),
    ]

    @Test(arguments: messages)
    func credentialsAreReplaced(_ message: String, _ expected: String) {
        #expect(Self.shown(message) == expected)
    }

    /// A cut must not leave the beginning of a credential.
    @Test func noCutShowsAPartOfACredential() {
        for (message, _) in Self.messages + [("{\"t\":\"\(Self.token)\"}", ""), ("x \(Self.token) y", "")] {
            for bytesMax in 1...max(1, message.utf8.count) {
                let shown = Self.shown(message, bytesMax: bytesMax)
                #expect(shown.utf8.count <= bytesMax)
                for secret in ["opaque", "opaq", "eyJhbGciOiJIUzI1NiJ9", "3ig1vKb0E5m2mJxz", "lv_VI97HAXp", "d%2Ee"] {
                    #expect(!shown.contains(secret), "\(shown) of \(message)")
                }
            }
        }
    }

    @Test func aTextIsCutBetweenCharacters() {
        let text = WireRedaction.text(Array("aé€😀b".utf8), bytesMax: 9)
        #expect(text.isCut && String(decoding: text.text, as: UTF8.self) == "aé€")
        #expect(!WireRedaction.text(Array("aé€😀b".utf8), bytesMax: 11).isCut)
        #expect(WireRedaction.text([0x80, 0x80], bytesMax: 1).text.isEmpty)
    }
}
