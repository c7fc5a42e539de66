import Core
import Testing

@testable import Rights

/// Tokens made here are accepted here, with everything they say.
@Suite struct TokenSignerTests {
    private func identity(_ user: String, topics: [String] = []) throws -> Identity {
        try #require(
            Identity(
                user: Array(user.utf8), role: .service, topics: topics.compactMap { TopicPattern($0) },
                expiresAt: now + 60, issuedAt: now, issuer: Array("https://\"ich\"".utf8)))
    }

    @Test(arguments: [nil, TestKeyPair.rsa, TestKeyPair.ec, TestKeyPair.ed])
    func signedTokenSaysWhatItsClaimsSay(_ pair: TestKeyPair?) throws {
        let kid = Array("k-1".utf8)
        var keys = TokenKeys()
        let signer: TokenSigner
        if let pair {
            try keys.addPEM(pair.publicPEM, keyID: kid)
            signer = try TokenSigner(privateKeyPEM: pair.privatePEM, keyID: kid)
        } else {
            try keys.addSecret(secret + [0x0a], keyID: kid)
            signer = try TokenSigner(secretFile: secret + [0x0a], keyID: kid)
        }
        let made = try identity("a.b_c~d:e-f", topics: ["order:*", "order:7", "x:p*"])
        let token = try signer.sign(TokenClaims(made, audience: Array("us".utf8)))
        let verifier = TokenVerifier(keys: keys, rules: rules(issuer: "https://\"ich\"", audience: "us"))
        let read = try #require(verifier.verify(token, now: now).identity)
        #expect(read.user == made.user && read.role == made.role && read.topics == made.topics)
        #expect(read.expiresAt == made.expiresAt && read.issuedAt == made.issuedAt && read.issuer == made.issuer)
        #expect(read.keyID == kid)
        #expect(signer.algorithm == (pair == nil ? .hs256 : keys.keys[0].algorithm))
    }

    @Test func guestsAndNamesAreSignedAndRead() throws {
        let signer = try TokenSigner(secretFile: secret + [0x0a])
        var keys = TokenKeys()
        try keys.addSecret(secret + [0x0a], keyID: nil)
        let verifier = TokenVerifier(keys: keys, rules: rules())
        for (isGuest, name) in [(true, "dana \"x\" ü"), (false, nil), (true, nil), (false, "d")] {
            let made = try #require(
                Identity(
                    user: Array("u1".utf8), role: .user, topics: [], expiresAt: now + 60, isGuest: isGuest,
                    name: name.map { Array($0.utf8) }))
            let read = try #require(verifier.verify(signer.sign(TokenClaims(made)), now: now).identity)
            #expect(read.isGuest == isGuest && read.name == made.name)
        }
    }

    @Test func olderPrivateKeyFormsAreRead() throws {
        // i2d_PrivateKey writes the older EC form, which `openssl ecparam -genkey` announces with its curve.
        let pem = TestKeyPair.ec.privatePEM
        #expect(try TokenSigner(privateKeyPEM: pem).algorithm == .es256)
        let older = String(decoding: pem, as: UTF8.self).replacing("PRIVATE KEY", with: "EC PRIVATE KEY")
        let parameters = TestKeyPair.pem("EC PARAMETERS", [0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07])
        #expect(try TokenSigner(privateKeyPEM: parameters + Array(older.utf8)).algorithm == .es256)
    }

    @Test func anythingButOnePrivateKeyIsRefused() {
        for text in [
            [], TestKeyPair.ec.publicPEM, TestKeyPair.ec.privatePEM + TestKeyPair.ed.privatePEM,
            TestKeyPair.smallRSA.privatePEM, TestKeyPair.bigEC.privatePEM,
            TestKeyPair.pem("ENCRYPTED PRIVATE KEY", [1]),
            TestKeyPair.pem("PRIVATE KEY", [1, 2, 3]), TestKeyPair.pem("PRIVATE KEY", TestKeyPair.ec.publicDER),
        ] {
            #expect(throws: RightsProblem.self) { try TokenSigner(privateKeyPEM: text) }
        }
    }

    @Test func secretsAndIDsThatNoVerifierTakesAreRefused() {
        #expect(throws: RightsProblem.secretTooShort(bytes: 3)) { try TokenSigner(secretFile: [1, 2, 3]) }
        #expect(throws: RightsProblem.secretIsKey) { try TokenSigner(secretFile: TestKeyPair.ec.publicPEM) }
        for id in [[], [0xff], [UInt8](repeating: 0x61, count: 257)] {
            #expect(throws: RightsProblem.self) { try TokenSigner(secretFile: secret, keyID: id) }
        }
    }

    @Test func claimsThatNoVerifierTakesCannotBeMade() throws {
        #expect(Identity(user: Array("a b".utf8), role: .user, topics: [], expiresAt: now) == nil)
        #expect(Identity(user: [], role: .user, topics: [], expiresAt: now) == nil)
        let pattern = try #require(TopicPattern("a:b"))
        let many = [TopicPattern](repeating: pattern, count: 257)
        #expect(Identity(user: [0x61], role: .user, topics: many, expiresAt: now) == nil)
        #expect(throws: RightsProblem.self) { try TokenClaims(identity("u"), audience: [0xff]) }
        for time in [-1, 253_402_300_800, Int.min, Int.max] {
            let identity = try #require(Identity(user: [0x61], role: .user, topics: [], expiresAt: time))
            #expect(throws: RightsProblem.self) { try TokenClaims(identity) }
        }
    }
}
