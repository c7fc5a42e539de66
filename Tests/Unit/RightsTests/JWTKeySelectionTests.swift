import Core
import Testing

@testable import Rights

/// Which key a token is tried with: `kid`, issuers, rotation, tenants.
@Suite struct JWTKeySelectionTests {
    private static let oct1 = #""kty":"oct","k":"\#(base64url(secret))""#
    private static let oct2 = #""kty":"oct","k":"\#(base64url(otherSecret))""#

    private func header(_ kid: String) -> String { #"{"alg":"HS256","kid":"\#(kid)"}"# }

    @Test(arguments: [
        "../../../../dev/null", "/etc/passwd", "a' OR '1'='1", "x'; DROP TABLE keys;--", "k1\\u0000", "\\u0000", "K1",
        " k1",
        "k1 ", "k", "k11", "http://127.0.0.1:1/k1", "${jndi:ldap://x}", "k\\u00311\\u0301",
    ])
    func unknownKidIsRefused(_ kid: String) throws {
        let verifier = try verifier(jwks: #""kid":"k1","# + JWTKeySelectionTests.oct1)
        #expect(verifier.verify(token(header: header(kid)), now: now).failure == .key)
    }

    @Test func kidOfGreatLengthIsRefused() throws {
        let verifier = try verifier(jwks: #""kid":"k1","# + JWTKeySelectionTests.oct1)
        let atLimit = String(repeating: "k", count: 256)
        #expect(verifier.verify(token(header: header(atLimit)), now: now).failure == .key)
        #expect(verifier.verify(token(header: header(atLimit + "k")), now: now).failure == .header)
        let long = String(repeating: "k", count: 100_000)
        #expect(verifier.verify(token(header: header(long)), now: now).failure == .length)
    }

    @Test func kidChoosesTheKeyAndNoOther() throws {
        let verifier = try verifier(
            jwks: #""kid":"k1","# + JWTKeySelectionTests.oct1, #""kid":"k2","# + JWTKeySelectionTests.oct2)
        #expect(verifier.verify(token(header: header("k1")), now: now).identity?.keyID == Array("k1".utf8))
        #expect(verifier.verify(token(header: header("k2")), now: now).failure == .signature)
        #expect(verifier.verify(token(header: header("k2"), secret: otherSecret), now: now).identity != nil)
        #expect(verifier.verify(token(), now: now).failure == .key)
    }

    @Test func kidWrittenWithEscapesIsTheSameKid() throws {
        let verifier = try verifier(jwks: #""kid":"k1","# + JWTKeySelectionTests.oct1)
        #expect(verifier.verify(token(header: header("\\u006b1")), now: now).identity != nil)
    }

    @Test func tokenWithoutKidIsTriedWithTheOnlyKey() throws {
        let verifier = try verifier(jwks: #""kid":"k1","# + JWTKeySelectionTests.oct1)
        #expect(verifier.verify(token(), now: now).identity != nil)
    }

    @Test func kidMeansNothingWhenNoKeyOfTheAlgorithmHasOne() throws {
        #expect(try secretVerifier().verify(token(header: header("any")), now: now).identity != nil)
        var keys = TokenKeys()
        try keys.addSecret(secret)
        try keys.addJWKS(Array(#"{"keys":[{"kid":"e1",\#(TestKeyPair.ec.ecJWK)}]}"#.utf8))
        let verifier = TokenVerifier(keys: keys, rules: rules())
        #expect(verifier.verify(token(header: header("any")), now: now).identity != nil)
        #expect(verifier.verify(token(header: header("e1")), now: now).failure == .algorithm)
    }

    @Test func tokenWithoutKidPrefersUnnamedKeys() throws {
        var keys = TokenKeys()
        try keys.addSecret(secret)
        try keys.addSecret(otherSecret, keyID: Array("k2".utf8))
        let verifier = TokenVerifier(keys: keys, rules: rules())
        #expect(verifier.verify(token(), now: now).identity != nil)
        #expect(verifier.verify(token(secret: otherSecret), now: now).failure == .signature)
    }

    @Test func secretsRotateWithAnOverlap() throws {
        var keys = TokenKeys()
        try keys.addSecret(secret)
        try keys.addSecret(otherSecret)
        let both = TokenVerifier(keys: keys, rules: rules())
        #expect(both.verify(token(), now: now).identity != nil)
        #expect(both.verify(token(secret: otherSecret), now: now).identity != nil)
        var rest = TokenKeys()
        try rest.addSecret(otherSecret)
        #expect(TokenVerifier(keys: rest, rules: rules()).verify(token(), now: now).failure == .signature)
    }

    private func tenants(sameKid: Bool) throws -> TokenVerifier {
        var keys = TokenKeys()
        try keys.addSecret(secret, keyID: Array("k1".utf8), issuer: Array("https://a".utf8))
        try keys.addSecret(otherSecret, keyID: Array((sameKid ? "k1" : "k2").utf8), issuer: Array("https://b".utf8))
        return TokenVerifier(keys: keys, rules: rules())
    }

    private func claims(issuer: String) -> String { #"{"sub":"u1","exp":1800000600,"iss":"\#(issuer)"}"# }

    /// CVE-2026-49998: a cache by `kid` alone let one issuer sign for another that chose the same id.
    @Test func keysAreChosenByIssuerAndKidNotByKidAlone() throws {
        let verifier = try tenants(sameKid: true)
        let a = token(header: header("k1"), claims: claims(issuer: "https://a"))
        let b = token(header: header("k1"), claims: claims(issuer: "https://b"), secret: otherSecret)
        let forged = token(header: header("k1"), claims: claims(issuer: "https://b"))
        #expect(verifier.verify(a, now: now).identity?.issuer == Array("https://a".utf8))
        #expect(verifier.verify(b, now: now).identity?.issuer == Array("https://b".utf8))
        #expect(verifier.verify(forged, now: now).failure == .issuer)
    }

    @Test func tokenOfTenantAIsRefusedAtTenantB() throws {
        let atB = try secretVerifier(rules(issuer: "https://b"))
        #expect(atB.verify(token(claims: claims(issuer: "https://a")), now: now).failure == .issuer)
        let foreign = token(claims: claims(issuer: "https://b"), secret: otherSecret)
        #expect(atB.verify(foreign, now: now).failure == .signature)
        let missing = try tenants(sameKid: false).verify(token(header: header("k1")), now: now)
        #expect(missing.failure == .issuer)
    }

    @Test func refreshKeepsUserRoleAndIssuer() throws {
        func identity(_ user: String, _ role: Identity.Role, _ issuer: String?, _ topics: [String]) throws -> Identity {
            try #require(
                Identity(
                    user: Array(user.utf8), role: role, topics: topics.compactMap { TopicPattern($0) }, expiresAt: now,
                    issuer: issuer.map { Array($0.utf8) }))
        }
        let current = try identity("u1", .user, "a", ["order:1"])
        #expect(try identity("u1", .user, "a", []).mayRefresh(current))
        #expect(try !identity("u2", .user, "a", ["order:1"]).mayRefresh(current))
        #expect(try !identity("u1", .service, "a", ["order:1"]).mayRefresh(current))
        #expect(try !identity("u1", .user, "b", ["order:1"]).mayRefresh(current))
        #expect(try !identity("u1", .user, nil, ["order:1"]).mayRefresh(current))
    }
}
