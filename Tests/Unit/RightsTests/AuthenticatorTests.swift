import Core
import Testing

@testable import Rights

/// One reader of credentials for every door.
@Suite struct AuthenticatorTests {
    private static let key = "backend-key-0123456789"

    private func authenticator(
        _ roles: [String: TokenRole] = [:], keys: String = "orders:\(AuthenticatorTests.key)"
    ) throws -> Authenticator {
        var tokenKeys = TokenKeys()
        try tokenKeys.addSecret(secret)
        var rules = rules()
        for (name, role) in roles { rules.roles[Array(name.utf8)] = role }
        return Authenticator(
            verifier: TokenVerifier(keys: tokenKeys, rules: rules), apiKeys: try APIKeys(file: Array(keys.utf8)))
    }

    private func read(apiKey: [String] = [], authorization: [String] = []) -> Credentials {
        Credentials(apiKeys: apiKey.map { Array($0.utf8) }, authorizations: authorization.map { Array($0.utf8) })
    }

    @Test func fieldsAreReadOnce() {
        #expect(read() == .none)
        #expect(read(apiKey: ["k"]) == .apiKey(Array("k".utf8)))
        #expect(read(authorization: ["Bearer t"]) == .bearer(Array("t".utf8)))
        #expect(read(authorization: ["bEARER t"]) == .bearer(Array("t".utf8)))
        #expect(read(apiKey: ["k"], authorization: ["Bearer t"]) == .apiKey(Array("k".utf8)))
        for malformed in [
            read(apiKey: ["k", "k"]), read(authorization: ["Bearer t", "Bearer t"]),
            read(authorization: ["Basic eA=="]),
            read(authorization: ["Bearer"]), read(authorization: [""]),
        ] {
            guard case .malformed = malformed else {
                Issue.record("\(malformed)")
                continue
            }
        }
    }

    @Test func keysAndTokensAreTakenInEitherField() throws {
        let authenticator = try authenticator()
        let token = String(decoding: token(), as: UTF8.self)
        for credentials in [
            read(apiKey: [AuthenticatorTests.key]), read(authorization: ["Bearer \(AuthenticatorTests.key)"]),
        ] {
            #expect(try authenticator.caller(credentials, now: now).get().isService)
        }
        for credentials in [read(apiKey: [token]), read(authorization: ["Bearer \(token)"])] {
            guard case .user(let identity) = try authenticator.caller(credentials, now: now).get() else {
                Issue.record("no user")
                continue
            }
            #expect(identity.user == Array("u1".utf8))
        }
        #expect(try authenticator.caller(.none, now: now).get() == .anonymous)
    }

    /// A URL is kept in histories and logs, so nothing of a service is taken from it.
    @Test func aURLShowsNothingOfAService() throws {
        let authenticator = try authenticator(keys: "orders:\(AuthenticatorTests.key)\nweb:web-key-0123456789:public")
        let service = token(claims: #"{"sub":"b","exp":1800000600,"role":"service"}"#)
        let services = [Array(AuthenticatorTests.key.utf8), service]
        for shown in services {
            for credentials in [Credentials.apiKey(shown), .bearer(shown)] {
                #expect(try authenticator.caller(credentials, now: now).get().isService)
                let refused = authenticator.caller(.inURL(credentials), now: now)
                #expect(throws: Refusal.self) { try refused.get() }
            }
        }
        let publishable = Credentials.inURL(.apiKey(Array("web-key-0123456789".utf8)))
        #expect(try authenticator.caller(publishable, now: now).get().isAnonymous)
        #expect(try !authenticator.caller(.inURL(.bearer(token())), now: now).get().isAnonymous)
    }

    @Test func wrongCredentialsNeverCountAsAnonymous() throws {
        let authenticator = try authenticator()
        for wrong in [read(apiKey: ["wrong"]), read(authorization: ["Bearer wrong"]), read(authorization: ["Basic x"])]
        {
            guard case .failure(let refusal) = authenticator.caller(wrong, now: now) else {
                Issue.record("accepted")
                continue
            }
            #expect(refusal.code == .unauthorized)
        }
    }

    /// Supabase's tokens have roles of their own names, and its keys no subject.
    @Test func rolesOfOtherIssuersAreMapped() throws {
        let mapped = try authenticator(["authenticated": .user, "service_role": .service, "anon": .anonymous])
        func caller(_ claims: String) -> Result<Caller, TokenFailure> {
            mapped.verifier.caller(of: token(claims: claims), now: now)
        }
        let end = now + 60
        #expect(try caller(#"{"role":"anon","iss":"supabase","exp":\#(end)}"#).get() == .anonymous)
        #expect(caller(#"{"role":"authenticated","exp":\#(end)}"#).failure == .subject)
        guard case .user(let user) = try caller(#"{"sub":"u7","role":"authenticated","exp":\#(end)}"#).get(),
            case .user(let service) = try caller(#"{"role":"service_role","exp":\#(end)}"#).get()
        else {
            Issue.record("nobody")
            return
        }
        #expect(user.role == .user && user.user == Array("u7".utf8))
        #expect(service.role == .service && service.user == Array("service_role".utf8))
        // An expired anonymous token is refused like any other, so that its issuer's mistakes show.
        #expect(caller(#"{"role":"anon","exp":\#(now - 60)}"#).failure == .expired)
    }

    @Test func aRoleThatIsNotMappedIsRefusedAsBefore() throws {
        let plain = try authenticator()
        for role in ["authenticated", "service_role", "anon", "admin", "User", ""] {
            let claims = #"{"sub":"u1","role":"\#(role)","exp":\#(now + 60)}"#
            #expect(plain.verifier.caller(of: token(claims: claims), now: now).failure == .role)
        }
        let bare = #"{"role":"service","exp":\#(now + 60)}"#
        #expect(
            plain.verifier.caller(of: token(claims: bare), now: now).failure == .subject,
            "only mapped roles need no sub")
    }

    @Test func nobodyAuthenticatesWithAnAnonymousToken() throws {
        let mapped = try authenticator(["anon": .anonymous])
        let claims = #"{"sub":"u1","role":"anon","exp":\#(now + 60)}"#
        #expect(mapped.verifier.verify(token(claims: claims), now: now).failure == .anonymous)
    }

    /// A replaced secret or key left the sessions it had admitted alive for as long as their tokens lasted.
    @Test func aReplacedKeyIsNotKnownAnyMore() throws {
        let before = try authenticator(keys: "orders:\(AuthenticatorTests.key)\norders:second-key-0123456")
        let user = try before.caller(.bearer(token()), now: now).get()
        let first = try #require(before.apiKeys.match(Array(AuthenticatorTests.key.utf8)))
        let second = try #require(before.apiKeys.match(Array("second-key-0123456".utf8)))
        #expect(before.stillKnows(user) && before.stillKnows(first) && before.stillKnows(second))
        let other = try authenticator(keys: "orders:\(AuthenticatorTests.key)\nweb:second-key-0123456:public")
        #expect(other.stillKnows(user) && other.stillKnows(first) && other.stillKnows(.anonymous))
        #expect(!other.stillKnows(second), "the same key under another name, and publishable now")
        var keys = TokenKeys()
        try keys.addSecret(otherSecret)
        #expect(
            !Authenticator(verifier: TokenVerifier(keys: keys, rules: rules()), apiKeys: APIKeys()).stillKnows(user))
        var named = TokenKeys()
        try named.addSecret(secret, keyID: Array("k1".utf8))
        #expect(
            !Authenticator(verifier: TokenVerifier(keys: named, rules: rules()), apiKeys: APIKeys()).stillKnows(user))
    }

    /// With one secret only, replacing it logged everybody out (P9).
    @Test func severalSecretsVerifyWhileOneReplacesTheOther() throws {
        var both = TokenKeys()
        try both.addSecret(secret, keyID: Array("old".utf8))
        try both.addSecret(otherSecret, keyID: Array("new".utf8))
        let verifier = TokenVerifier(keys: both, rules: rules())
        for (id, material) in [("old", secret), ("new", otherSecret)] {
            let header = #"{"alg":"HS256","kid":"\#(id)"}"#
            #expect(verifier.verify(token(header: header, secret: material), now: now).identity != nil)
        }
        #expect(verifier.verify(token(header: #"{"alg":"HS256","kid":"new"}"#), now: now).failure == .signature)
    }
}
