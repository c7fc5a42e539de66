import Core
import Testing

@testable import Rights

/// The `alg` header and key confusion.
@Suite struct JWTAlgorithmTests {
    @Test func goodTokenIsAccepted() throws {
        let identity = try secretVerifier().verify(token(), now: now).identity
        #expect(identity?.user == Array("u1".utf8))
        #expect(identity?.role == .user)
        #expect(identity?.expiresAt == 1_800_000_600)
        #expect(identity?.topics.isEmpty == true)
    }

    @Test(arguments: ["none", "None", "NONE", "nOnE", "", "hs256", "Hs256", "HS256 ", "HS256\\u0000", "HS384", "PS256"])
    func algNoneEmptyOrUnknownIsRefused(_ alg: String) throws {
        let header = #"{"alg":"\#(alg)","typ":"JWT"}"#
        #expect(try secretVerifier().verify(token(header: header), now: now).failure == .algorithm)
        let unsigned = Array((base64url(header.utf8) + "." + base64url(goodClaims.utf8) + ".").utf8)
        #expect(try secretVerifier().verify(unsigned, now: now).failure == .algorithm)
    }

    @Test(arguments: [
        #"{"typ":"JWT"}"#, #"{"alg":["HS256"]}"#, #"{"alg":null}"#, #"{"alg":256}"#, #"{"alg":{"a":"HS256"}}"#,
        #"{"alg":true}"#, #"{"Alg":"HS256"}"#, "{}",
    ])
    func algMissingOrNoStringIsRefused(_ header: String) throws {
        #expect(try secretVerifier().verify(token(header: header), now: now).failure == .algorithm)
    }

    @Test func emptySignatureIsRefused() throws {
        let bare = Array((base64url(goodHeader.utf8) + "." + base64url(goodClaims.utf8) + ".").utf8)
        #expect(try secretVerifier().verify(bare, now: now).failure == .signature)
    }

    /// CVE-2015-9235: the public key, which everyone knows, used as an HMAC secret.
    @Test(arguments: [TestKeyPair.rsa, TestKeyPair.ec, TestKeyPair.ed])
    func publicKeyAsHMACSecretIsRefused(_ pair: TestKeyPair) throws {
        for key in [pair.publicPEM, Array(pair.publicPEM.dropLast()), pair.publicDER] {
            let forged = token(secret: key)
            #expect(try verifier(publicKeys: pair.publicPEM).verify(forged, now: now).failure == .algorithm)
            var keys = TokenKeys()
            try keys.addPEM(pair.publicPEM)
            try keys.addSecret(secret)
            #expect(TokenVerifier(keys: keys, rules: rules()).verify(forged, now: now).failure == .signature)
        }
    }

    @Test func rsToHSWithKidOfThePublicKeyIsRefused() throws {
        let verifier = try verifier(jwks: #""kid":"r1","# + TestKeyPair.rsa.rsaJWK)
        let forged = token(header: #"{"alg":"HS256","kid":"r1"}"#, secret: TestKeyPair.rsa.publicPEM)
        #expect(verifier.verify(forged, now: now).failure == .algorithm)
    }

    @Test(arguments: ["RS256", "ES256", "EdDSA"])
    func algOfAnotherKindOfKeyIsRefused(_ alg: String) throws {
        let header = #"{"alg":"\#(alg)"}"#
        #expect(try secretVerifier().verify(token(header: header), now: now).failure == .algorithm)
    }

    @Test(arguments: [TestKeyPair.rsa, TestKeyPair.ec, TestKeyPair.ed])
    func privateKeySignsWhatItsPublicKeyVerifies(_ pair: TestKeyPair) throws {
        let signer = try TokenSigner(privateKeyPEM: pair.privatePEM)
        let token = try signer.sign(
            header: Array(#"{"alg":"\#(signer.algorithm.rawValue)"}"#.utf8), payload: Array(goodClaims.utf8))
        let all = try verifier(
            publicKeys: TestKeyPair.rsa.publicPEM, TestKeyPair.ec.publicPEM, TestKeyPair.ed.publicPEM)
        #expect(all.verify(token, now: now).identity?.user == Array("u1".utf8))
        let others = try verifier(publicKeys: TestKeyPair.otherRSA.publicPEM, TestKeyPair.otherEC.publicPEM)
        #expect(others.verify(token, now: now).failure == (signer.algorithm == .eddsa ? .algorithm : .signature))
    }

    /// CVE-2018-0114: a key inside the token.
    ///
    /// It is ignored: neither trusted nor a reason to refuse.
    @Test(arguments: [
        #""jwk":{"kty":"oct","k":"WllYV1ZVVFNSUVBPTk1MS0pJSEdGRURDQkE5ODc2NTQ"}"#,
        #""jku":"http://127.0.0.1:1/keys""#, #""x5u":"http://127.0.0.1:1/cert""#, #""x5c":["MIIB"]"#, #""x5t":"abc""#,
    ])
    func keyInsideTheHeaderIsIgnored(_ member: String) throws {
        let header = #"{"alg":"HS256",\#(member)}"#
        #expect(try secretVerifier().verify(token(header: header), now: now).identity != nil)
        let forged = token(header: header, secret: otherSecret)
        #expect(try secretVerifier().verify(forged, now: now).failure == .signature)
    }

    @Test(arguments: [
        #""crit":["exp"]"#, #""crit":[]"#, #""b64":false,"crit":["b64"]"#, #""b64":true"#, #""zip":"DEF""#,
        #""enc":"A256GCM""#, #""cty":"JWT""#, #""typ":"JOSE+JSON""#, #""typ":"JWE""#, #""typ":"dpop+jwt""#,
    ])
    func extensionsEncryptionAndNestingAreRefused(_ member: String) throws {
        let header = #"{"alg":"HS256",\#(member)}"#
        #expect(try secretVerifier().verify(token(header: header), now: now).failure == .extended)
    }

    @Test(arguments: ["JWT", "jwt", "at+jwt"])
    func usualTypesAreAccepted(_ type: String) throws {
        let header = #"{"alg":"HS256","typ":"\#(type)"}"#
        #expect(try secretVerifier().verify(token(header: header), now: now).identity != nil)
    }

    @Test(arguments: [
        "", "null", "[]", "\"HS256\"", #"{"alg":"HS256""#, #"{"alg":"HS256"} x"#, #"{"alg":"HS256","typ":1}"#,
        #"{"alg":"HS256","alg":"HS256"}"#, #"{"alg":"none","alg":"HS256"}"#, #"{"alg":"HS256","\u0061lg":"none"}"#,
        #"{"alg":"HS256","kid":1}"#, #"{"alg":"HS256","kid":null}"#, #"{"alg":"HS256","kid":""}"#,
        #"{"alg":"HS256","x":[[[[1]]]]}"#,
    ])
    func brokenHeaderIsRefused(_ header: String) throws {
        #expect(try secretVerifier().verify(token(header: header), now: now).failure == .header)
    }

    @Test func headerThatIsNoUTF8IsRefused() throws {
        let header = Array(#"{"alg":"HS256","x":""#.utf8) + [0xff] + Array(#""}"#.utf8)
        let token = signed(Base64.encode(header, .url) + [0x2e] + Base64.encode(goodClaims.utf8, .url))
        #expect(try secretVerifier().verify(token, now: now).failure == .header)
    }

    /// A signed token as the payload of a signed token (pac4j CVE-2026-29000): the inner one is no claims.
    @Test func nestedTokenIsRefused() throws {
        let inner = String(decoding: token(), as: UTF8.self)
        #expect(try secretVerifier().verify(token(claims: inner), now: now).failure == .claims)
        #expect(try secretVerifier().verify(token(claims: "\"\(inner)\""), now: now).failure == .claims)
        let header = #"{"alg":"HS256","cty":"JWT"}"#
        #expect(try secretVerifier().verify(token(header: header, claims: inner), now: now).failure == .extended)
    }

    @Test func encryptedTokenIsRefused() throws {
        let header = base64url(#"{"alg":"dir","enc":"A256GCM"}"#.utf8)
        #expect(try secretVerifier().verify(Array("\(header)..AAAA.AAAA.AAAA".utf8), now: now).failure == .shape)
    }
}
