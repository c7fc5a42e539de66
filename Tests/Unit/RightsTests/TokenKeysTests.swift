import Core
import Testing

@testable import Rights

/// Reading key files.
@Suite struct TokenKeysTests {
    private func problem(_ body: (inout TokenKeys) throws -> Void) -> RightsProblem? {
        var keys = TokenKeys()
        do {
            try body(&keys)
        } catch {
            #expect(keys.isEmpty)
            return error as? RightsProblem
        }
        return nil
    }

    @Test(arguments: [0, 1, 16, 31])
    func shortOrEmptySecretIsRefused(_ count: Int) {
        let short = [UInt8](repeating: UInt8(ascii: "s"), count: count)
        #expect(problem { try $0.addSecret(short) } == .secretTooShort(bytes: count))
        #expect(problem { try $0.addSecret(short + [0x0a]) } == .secretTooShort(bytes: count))
        #expect(problem { try $0.addSecret(short + [0x0d, 0x0a]) } == .secretTooShort(bytes: count))
    }

    @Test func oneTrailingLineEndIsNoPartOfTheSecret() throws {
        for end in ["", "\n", "\r\n"] {
            var keys = TokenKeys()
            try keys.addSecret(secret + Array(end.utf8))
            #expect(TokenVerifier(keys: keys, rules: rules()).verify(token(), now: now).identity != nil)
        }
        var keys = TokenKeys()
        try keys.addSecret(secret + Array("\n\n".utf8))
        #expect(TokenVerifier(keys: keys, rules: rules()).verify(token(), now: now).failure == .signature)
    }

    @Test func secretOfTheGreatestLength() {
        #expect(problem { try $0.addSecret([UInt8](repeating: 1, count: 1_024)) } == nil)
        #expect(problem { try $0.addSecret([UInt8](repeating: 1, count: 1_025)) } == .tooLong(bytesMax: 1_024))
    }

    @Test(arguments: [TestKeyPair.rsa, TestKeyPair.ec, TestKeyPair.ed])
    func secretThatIsAKeyIsRefused(_ pair: TestKeyPair) {
        #expect(problem { try $0.addSecret(pair.publicPEM) } == .secretIsKey)
        #expect(problem { try $0.addSecret(Array(" \n".utf8) + pair.publicPEM) } == .secretIsKey)
        #expect(problem { try $0.addSecret(pair.publicDER) } == .secretIsKey)
        #expect(problem { try $0.addSecret(Base64.encode(pair.publicDER, .standard) + [0x0a]) } == .secretIsKey)
        #expect(problem { try $0.addSecret(Array("{\"keys\":[{\(pair.ecJWK)}]}".utf8)) } == .secretIsKey)
        #expect(problem { try $0.addSecret(Array("{\(pair.edJWK)}".utf8)) } == .secretIsKey)
    }

    /// One public key in 256 ends with the byte of a line end, was cut there, and then taken for a secret.
    @Test func aKeyThatEndsWithALineEndIsRefused() {
        let prefix: [UInt8] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00]
        let key: [UInt8] = [
            89, 225, 38, 136, 231, 252, 243, 14, 40, 99, 96, 19, 85, 104, 116, 76, 247, 239, 146, 75, 107, 138, 40, 7,
            210,
            91, 6, 204, 35, 115, 164, 10,
        ]
        #expect(problem { try $0.addSecret(prefix + key) } == .secretIsKey)
    }

    @Test func keysOfEveryKindAreRead() throws {
        var keys = TokenKeys()
        #expect(try keys.addPublicKeys(TestKeyPair.rsa.publicPEM + TestKeyPair.ec.publicPEM).used == 2)
        #expect(try keys.addPublicKeys(Array(" {\"keys\":[{\(TestKeyPair.ed.edJWK)}]}".utf8)).used == 1)
        try keys.addSecret(secret)
        #expect(keys.description == "1 HS256, 1 RS256, 1 ES256, 1 EdDSA")
    }

    @Test func weakOrForeignKeysAreRefused() {
        for pair in [TestKeyPair.smallRSA, TestKeyPair.bigEC] {
            guard case .keyRefused = problem({ try $0.addPEM(pair.publicPEM) }) else {
                Issue.record("accepted")
                continue
            }
        }
    }

    @Test func privateKeysAndOtherBlocksAreRefused() {
        let texts = [
            TestKeyPair.ec.privatePEM, TestKeyPair.pem("CERTIFICATE", [1, 2, 3]),
            TestKeyPair.pem("RSA PUBLIC KEY", [1, 2, 3]), TestKeyPair.pem("X", [1]),
            TestKeyPair.ec.publicPEM + TestKeyPair.ec.privatePEM, [], Array("nothing".utf8),
            Array("-----BEGIN PUBLIC KEY-----\nAAAA\n".utf8), Array("-----END PUBLIC KEY-----\n".utf8),
            Array("-----BEGIN PUBLIC KEY-----\n!!!!\n-----END PUBLIC KEY-----\n".utf8),
            Array("-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n".utf8),
            Array("-----BEGIN PUBLIC KEY-----\nProc-Type: 4,ENCRYPTED\nAAAA\n-----END PUBLIC KEY-----\n".utf8),
            Array("-----BEGIN A-----\n-----BEGIN B-----\n".utf8),
        ]
        for text in texts {
            guard case .pem = problem({ try $0.addPEM(text) }) else {
                Issue.record("accepted \(String(decoding: text, as: UTF8.self))")
                continue
            }
        }
        for der in [[1, 2, 3], TestKeyPair.ec.publicDER + [0], Array(TestKeyPair.ec.publicDER.dropLast())] {
            guard case .keyRefused = problem({ try $0.addPEM(TestKeyPair.pem("PUBLIC KEY", der)) }) else {
                Issue.record("accepted DER")
                continue
            }
        }
    }

    @Test func pemWithWindowsLineEndsAndCommentaryIsRead() throws {
        let text =
            "Subject: us\r\n" + String(decoding: TestKeyPair.ec.publicPEM, as: UTF8.self).replacing("\n", with: "\r\n")
        #expect(try verifier(publicKeys: Array(text.utf8)).keys.count == 1)
    }

    /// Readable, of the right size, but no product of two primes.
    @Test func rsaKeyThatIsNoKeyIsRefused() {
        var even = TestKeyPair.rsa.publicDER
        even[even.count - 6] &= 0xfe
        let modulus = Array(TestKeyPair.rsa.publicDER.dropLast(5).suffix(256))
        let exponentOfOne = PublicKeyInfo.rsa(modulus: modulus, exponent: [1])
        let prime = PublicKeyInfo.rsa(modulus: TokenKeysTests.mersennePrime2203, exponent: [1, 0, 1])
        for der in [even, exponentOfOne, prime] {
            guard case .keyRefused = problem({ try $0.addPEM(TestKeyPair.pem("PUBLIC KEY", der)) }) else {
                Issue.record("accepted")
                continue
            }
        }
        // The same text with an intact key is accepted.
        let intact = PublicKeyInfo.rsa(modulus: modulus, exponent: [1, 0, 1])
        #expect(intact == TestKeyPair.rsa.publicDER)
        #expect(problem { try $0.addPEM(TestKeyPair.pem("PUBLIC KEY", intact)) } == nil)
    }

    /// 2^2203 - 1, big-endian: 2203 = 275 * 8 + 3 bits.
    private static let mersennePrime2203 = [0x07] + [UInt8](repeating: 0xff, count: 275)

    @Test func pointOffTheCurveIsRefused() {
        let x = base64url([UInt8](repeating: 1, count: 32))
        let jwks = #"{"keys":[{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(x)"}]}"#
        guard case .keyRefused = problem({ try $0.addJWKS(Array(jwks.utf8)) }) else {
            Issue.record("accepted")
            return
        }
    }

    @Test func jwkAndPEMOfOneKeyVerifyTheSame() throws {
        for (pair, jwk) in [
            (TestKeyPair.rsa, TestKeyPair.rsa.rsaJWK), (TestKeyPair.ec, TestKeyPair.ec.ecJWK),
            (TestKeyPair.ed, TestKeyPair.ed.edJWK),
        ] {
            let signer = try TokenSigner(privateKeyPEM: pair.privatePEM, keyID: Array("k1".utf8))
            let header = #"{"alg":"\#(signer.algorithm.rawValue)","kid":"k1"}"#
            let token = try signer.sign(header: Array(header.utf8), payload: Array(goodClaims.utf8))
            #expect(try verifier(publicKeys: pair.publicPEM).verify(token, now: now).identity != nil)
            #expect(
                try verifier(jwks: #""kid":"k1","# + jwk).verify(token, now: now).identity?.keyID == Array("k1".utf8))
        }
    }

    /// Keys of an identity provider's set that serve something else are left out, not fatal.
    @Test(arguments: [
        #""kty":"RSA","use":"enc","n":"AQAB","e":"AQAB""#, #""kty":"RSA","alg":"RSA-OAEP","n":"AQAB","e":"AQAB""#,
        #""kty":"RSA","alg":"HS256","n":"AQAB","e":"AQAB""#, #""kty":"EC","crv":"P-384","x":"AQAB","y":"AQAB""#,
        #""kty":"OKP","crv":"X25519","x":"AQAB""#, #""kty":"new""#, #""kty":"oct","alg":"HS512","k":"AQAB""#,
        #""kty":"oct","key_ops":["sign"],"k":"AQAB""#, #""kty":"rsa","n":"AQAB","e":"AQAB""#,
    ])
    func jwkForSomethingElseIsLeftOut(_ jwk: String) throws {
        var keys = TokenKeys()
        let added = try keys.addJWKS(Array("{\"keys\":[{\(jwk)},{\(TestKeyPair.ec.ecJWK)}]}".utf8))
        #expect(added == TokenKeys.Added(used: 1, skipped: 1))
        #expect(problem { try $0.addJWKS(Array("{\"keys\":[{\(jwk)}]}".utf8)) } != nil)
    }

    @Test(arguments: [
        "", "{}", "[]", #"{"keys":{}}"#, #"{"keys":[]}"#, #"{"keys":[1]}"#, #"{"keys":[{}]}"#, #"{"keys":[{"kty":1}]}"#,
        #"{"keys":[{"kty":"oct"}]}"#, #"{"keys":[{"kty":"oct","k":"c2hvcnQ"}]}"#, #"{"keys":[{"kty":"oct","k":1}]}"#,
        #"{"keys":[{"kty":"oct","k":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlBQkNERUY="}]}"#,
        #"{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]}"#, #"{"keys":[{"kty":"RSA","n":"","e":"AQAB"}]}"#,
        #"{"keys":[{"kty":"EC","crv":"P-256","x":"AQAB","y":"AQAB"}]}"#, #"{"keys":[{"kty":"EC","crv":"P-256"}]}"#,
        #"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AQAB"}]}"#, #"{"keys":[],"keys":[]}"#,
        #"{"keys":[{"kty":"oct","use":1,"k":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlBQkNERUY"}]}"#,
        #"{"keys":[{"kty":"oct","key_ops":"verify","k":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlBQkNERUY"}]}"#,
        #"{"keys":[{"kty":"oct","kid":"","k":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlBQkNERUY"}]}"#,
        #"{"keys":[{"kty":"oct","kid":7,"k":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlBQkNERUY"}]}"#,
    ])
    func brokenJWKSIsRefused(_ text: String) {
        #expect(problem { try $0.addJWKS(Array(text.utf8)) } != nil)
    }

    @Test func privateJWKIsRefused() {
        let jwks = "{\"keys\":[{\(TestKeyPair.ec.ecJWK),\"d\":\"AQAB\"}]}"
        guard case .jwks = problem({ try $0.addJWKS(Array(jwks.utf8)) }) else {
            Issue.record("accepted")
            return
        }
    }

    private func octs(_ count: Int, named: Bool = true) -> [UInt8] {
        let list = (0..<count).map { index in
            var key = secret
            key[0] = UInt8(truncatingIfNeeded: index)
            return (named ? "{\"kid\":\"k\(index)\"," : "{") + "\"kty\":\"oct\",\"k\":\"\(base64url(key))\"}"
        }
        return Array("{\"keys\":[\(list.joined(separator: ","))]}".utf8)
    }

    @Test func numbersOfKeysAreBounded() throws {
        #expect(problem { try $0.addJWKS(octs(64)) } == nil)
        #expect(problem { try $0.addJWKS(octs(65)) } == .tooManyKeys(max: 64))
        #expect(problem { try $0.addJWKS(octs(8, named: false)) } == nil)
        #expect(problem { try $0.addJWKS(octs(9, named: false)) } != nil)
        var keys = TokenKeys()
        try keys.addJWKS(octs(64))
        #expect(throws: RightsProblem.tooManyKeys(max: 64)) { try keys.addSecret(secret) }
        #expect(keys.count == 64)
        #expect(problem { try $0.addJWKS([UInt8](repeating: 0x20, count: 262_145)) } == .tooLong(bytesMax: 262_144))
        #expect(problem { try $0.addPEM([UInt8](repeating: 0x20, count: 262_145)) } == .tooLong(bytesMax: 262_144))
    }

    @Test func duplicateKidsAreRefusedWithinAnIssuer() throws {
        let one = Array("{\"keys\":[{\"kid\":\"k\",\(TestKeyPair.ec.ecJWK)}]}".utf8)
        let twice = "{\"keys\":[{\"kid\":\"k\",\(TestKeyPair.ec.ecJWK)},{\"kid\":\"k\",\(TestKeyPair.ed.edJWK)}]}"
        #expect(problem { try $0.addJWKS(Array(twice.utf8)) } == .keyID("named twice"))
        var keys = TokenKeys()
        try keys.addJWKS(one, issuer: [1])
        #expect(throws: RightsProblem.keyID("named twice")) { try keys.addJWKS(one, issuer: [1]) }
        try keys.addJWKS(one, issuer: [2])
        #expect(keys.count == 2)
    }

    @Test func secretsShowNowhere() throws {
        var keys = TokenKeys()
        try keys.addSecret(secret)
        let verifier = TokenVerifier(keys: keys, rules: rules())
        let signer = try TokenSigner(secretFile: secret)
        var dumped = ""
        dump(verifier, to: &dumped)
        dump(signer, to: &dumped)
        dumped += "\(verifier) \(String(reflecting: signer)) \(keys)"
        #expect(!dumped.contains("0123456789abcdef"))
        #expect(!dumped.contains("48, 49, 50"))
        #expect(!dumped.contains("[1]: 49"))
        #expect(dumped.contains("1 HS256"))
    }
}
