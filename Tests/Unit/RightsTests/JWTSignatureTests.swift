import Core
import TestSupport
import Testing

@testable import Rights

/// Signatures: vectors of the RFCs, malformed ones, and every single-byte change of a good token.
@Suite struct JWTSignatureTests {
    private static let rfcClaims =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"

    /// The example has no `sub`; that this is what is missed shows that the signature was good.
    @Test func vectorOfRFC7515A1HS256() throws {
        let key = "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"
        let token =
            "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9." + JWTSignatureTests.rfcClaims
            + ".dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
        let verifier = try verifier(jwks: #""kty":"oct","k":"\#(key)""#)
        #expect(verifier.verify(Array(token.utf8), now: 1_300_819_000).failure == .subject)
    }

    @Test func vectorOfRFC7515A3ES256() throws {
        let verifier = try verifier(
            jwks: #""kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","#
                + #""y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0""#)
        let token =
            "eyJhbGciOiJFUzI1NiJ9." + JWTSignatureTests.rfcClaims
            + ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
        #expect(verifier.verify(Array(token.utf8), now: 1_300_819_000).failure == .subject)
    }

    /// The payload is a sentence; that it is no JSON is found only behind a good signature.
    @Test func vectorOfRFC8037A4EdDSA() throws {
        let verifier = try verifier(
            jwks: #""kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo""#)
        let token =
            "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc."
            + "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
        #expect(verifier.verify(Array(token.utf8), now: now).failure == .claims)
    }

    private func es256Token(_ signature: [UInt8]) -> [UInt8] {
        Array((base64url(#"{"alg":"ES256"}"#.utf8) + "." + base64url(goodClaims.utf8) + ".").utf8)
            + Base64.encode(signature, .url)
    }

    private static let order: [UInt8] = [
        0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xbc, 0xe6, 0xfa, 0xad,
        0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
    ]

    /// CVE-2022-21449: r = s = 0 verified every message.
    @Test func es256OfZerosOrBeyondTheOrderIsRefused() throws {
        let verifier = try verifier(publicKeys: TestKeyPair.ec.publicPEM)
        let zero = [UInt8](repeating: 0, count: 32)
        let one = Array(zero.dropLast()) + [1]
        let order = JWTSignatureTests.order
        let ones = [UInt8](repeating: 0xff, count: 32)
        let pairs = [
            (zero, zero), (zero, one), (one, zero), (order, order), (one, order), (order, one), (ones, ones),
        ]
        for (r, s) in pairs {
            #expect(verifier.verify(es256Token(r + s), now: now).failure == .signature)
        }
    }

    @Test(arguments: [0, 1, 32, 63, 65, 70, 71, 72, 96, 128])
    func es256OfWrongLengthIsRefused(_ count: Int) throws {
        let verifier = try verifier(publicKeys: TestKeyPair.ec.publicPEM)
        #expect(verifier.verify(es256Token([UInt8](repeating: 1, count: count)), now: now).failure == .signature)
    }

    @Test func es256WithZerosBeforeOrBehindIsRefused() throws {
        let signer = try TokenSigner(privateKeyPEM: TestKeyPair.ec.privatePEM)
        let good = try signer.sign(header: Array(#"{"alg":"ES256"}"#.utf8), payload: Array(goodClaims.utf8))
        let verifier = try verifier(publicKeys: TestKeyPair.ec.publicPEM)
        #expect(verifier.verify(good, now: now).identity != nil)
        let raw = try #require(Base64.decode(good.split(separator: UInt8(ascii: "."))[2], .url))
        #expect(raw.count == 64)
        #expect(verifier.verify(es256Token(raw + [0]), now: now).failure == .signature)
        #expect(verifier.verify(es256Token([0] + raw), now: now).failure == .signature)
        #expect(verifier.verify(es256Token(Array(raw.suffix(32) + raw.prefix(32))), now: now).failure == .signature)
    }

    @Test func es256InDERFormIsRefused() throws {
        let verifier = try verifier(publicKeys: TestKeyPair.ec.publicPEM)
        let der: [UInt8] =
            [0x30, 0x44, 0x02, 0x20] + [UInt8](repeating: 1, count: 32) + [0x02, 0x20]
            + [UInt8](repeating: 1, count: 32)
        #expect(verifier.verify(es256Token(der), now: now).failure == .signature)
    }

    @Test(arguments: [0, 1, 31, 33, 64, 4_000])
    func hs256OfWrongLengthIsRefused(_ count: Int) throws {
        let message = base64url(goodHeader.utf8) + "." + base64url(goodClaims.utf8)
        let mac = Digest.hmacSHA256(key: secret, message.utf8)
        let wrong = Array((mac + [UInt8](repeating: 0, count: 4_000)).prefix(count))
        #expect(
            try secretVerifier().verify(Array((message + ".").utf8) + Base64.encode(wrong, .url), now: now).failure
                == .signature)
    }

    @Test(arguments: [TestKeyPair.rsa, TestKeyPair.ed], [0, 1, 63, 65, 255, 257, 1_024])
    func rs256AndEdDSAOfWrongLengthAreRefused(_ pair: TestKeyPair, _ count: Int) throws {
        let alg = try TokenSigner(privateKeyPEM: pair.privatePEM).algorithm.rawValue
        let message = base64url(#"{"alg":"\#(alg)"}"#.utf8) + "." + base64url(goodClaims.utf8) + "."
        let signature = Base64.encode([UInt8](repeating: 0, count: count), .url)
        let verifier = try verifier(publicKeys: pair.publicPEM)
        #expect(verifier.verify(Array(message.utf8) + signature, now: now).failure == .signature)
    }

    /// Claims are not read before the signature is good: each of these would fail otherwise, with another name.
    @Test(arguments: [
        "", "no JSON", #"{"sub":1}"#, #"{"sub":"u1","exp":1}"#, #"{"sub":"u1","exp":"x"}"#, #"{"a":1,"a":2}"#,
        #"{"sub":"u1","iss":"http://127.0.0.1:1/","exp":1800000600}"#, #"{"role":"root"}"#, #"{"topics":"*"}"#,
    ])
    func claimsAreNotReadBeforeTheSignatureIsVerified(_ claims: String) throws {
        let verifier = try secretVerifier(rules(issuer: "https://issuer", audience: "us"))
        #expect(verifier.verify(token(claims: claims, secret: otherSecret), now: now).failure == .signature)
    }

    @Test func payloadThatIsNoBase64IsNotDecodedBeforeTheSignatureIsVerified() throws {
        let message = Array((base64url(goodHeader.utf8) + ".!!!").utf8)
        #expect(try secretVerifier().verify(signed(message, otherSecret), now: now).failure == .signature)
        #expect(try secretVerifier().verify(signed(message), now: now).failure == .encoding)
    }

    @Test func everySingleByteChangeOfAGoodTokenIsRefused() throws {
        let verifier = try secretVerifier()
        let good = token()
        #expect(verifier.verify(good, now: now).identity != nil)
        for index in good.indices {
            for change in [UInt8(1), 2, 4, 16, 32, 128] {
                var changed = good
                changed[index] ^= change
                #expect(verifier.verify(changed, now: now).failure != nil, "byte \(index) ^ \(change)")
            }
        }
    }

    @Test func everyPrefixAndExtensionOfAGoodTokenIsRefused() throws {
        let verifier = try secretVerifier()
        let good = token()
        for count in 0..<good.count { #expect(verifier.verify(Array(good.prefix(count)), now: now).failure != nil) }
        for byte in UInt8.min...UInt8.max { #expect(verifier.verify(good + [byte], now: now).failure != nil) }
    }

    @Test func randomBytesAreRefused() throws {
        let verifier = try secretVerifier()
        let seed: UInt64 = 20_261_103
        var random = Seeded(seed)
        let alphabet = Array("ABCeyJhbGciOiJIUzI1NiJ9._-=+/ \n\0".utf8) + [0xff]
        for _ in 0..<Histories.count(5_000) {
            let bytes = (0..<Int.random(in: 0...80, using: &random)).map { _ in
                alphabet.randomElement(using: &random) ?? 0
            }
            #expect(verifier.verify(bytes, now: now).failure != nil, "seed \(seed)")
        }
    }
}
