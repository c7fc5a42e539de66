import Core
import Testing

@testable import Rights

/// Tokens of the gateway's own: what they are taken for, and what nobody can make of them.
@Suite struct GrantTests {
    private let topic = Topic("session:7")

    private func grants(_ secrets: [UInt8]...) throws -> GrantKeys {
        var keys = GrantKeys()
        for secret in secrets { try keys.addSecret(secret) }
        return keys
    }

    private func verifier(_ grants: GrantKeys, operators: [UInt8]? = secret) throws -> TokenVerifier {
        var keys = TokenKeys()
        if let operators { try keys.addSecret(operators) }
        return TokenVerifier(keys: keys, rules: rules(issuer: "https://us", audience: "us"), grants: grants)
    }

    private func policy(_ rule: NamespacePolicy.Rule) -> NamespacePolicy {
        NamespacePolicy(subscribe: rule, publish: rule, logEventsMax: 1, logSeconds: 1, slow: .disconnect)
    }

    private func grant(
        _ user: String = "guest:1", expiresAt: Int = now + 60, isGuest: Bool = true
    ) throws -> Grant {
        let topic = try #require(topic)
        return try #require(
            Grant(
                user: Array(user.utf8), topic: topic, issuedAt: now, expiresAt: expiresAt,
                tokenID: Array("m-1".utf8), isGuest: isGuest))
    }

    /// A user's token for one topic says nothing of where the user is; a guest has no other token.
    @Test func aTokenForOneTopicBeatsForGuestsAlone() throws {
        let keys = try grants(otherSecret)
        for (user, isGuest) in [("guest:1", true), ("ann", false)] {
            let token = try #require(keys.sign(try grant(user, isGuest: isGuest)))
            let identity = try #require(try verifier(keys).verify(token, now: now).identity)
            #expect(identity.isGuest == isGuest && identity.hasHeartbeat == isGuest)
        }
    }

    @Test func aGrantOpensItsTopicAndNothingElse() throws {
        let keys = try grants(otherSecret)
        let made = try grant()
        let token = try #require(keys.sign(made))
        let judge = try verifier(keys)
        let identity = try #require(judge.verify(token, now: now).identity)
        #expect(identity.user == Array("guest:1".utf8) && identity.grant == topic && identity.isGuest)
        #expect(identity.role == .user && identity.tokenID == Array("m-1".utf8) && identity.issuedAt == now)
        #expect(identity.hasHeartbeat)
        var policies: [String: NamespacePolicy] = [:]
        for rule in NamespacePolicy.Rule.allCases {
            policies[rule.rawValue] = policy(rule)
        }
        policies["session"] = policy(.granted)
        let access = try AccessPolicy(policies)
        let caller = Caller.user(identity)
        let own = try #require(topic)
        #expect(access.subscribe(own, caller) == .allow)
        for name in ["session:8", "session:77", "user:guest:1", "owner:guest:1", "granted:7", "service:7"] {
            let other = try #require(Topic(name))
            guard case .refuse = access.subscribe(other, caller) else {
                Issue.record("\(name) is open")
                continue
            }
        }
        for name in ["session:7", "user:7", "owner:guest:1", "granted:7", "service:7"] {
            let other = try #require(Topic(name))
            guard case .refuse = access.publish(other, caller) else {
                Issue.record("\(name) may be published on")
                continue
            }
        }
        let open = try #require(Topic("anyone:7"))
        #expect(access.subscribe(open, caller) == .allow)
    }

    @Test func noTokenIsTakenForOneOfTheOtherKind() throws {
        // Even where one secret serves both.
        let keys = try grants(secret)
        let both = try verifier(keys)
        let made = try grant()
        let mine = try #require(keys.sign(made))
        let parts = mine.split(separator: UInt8(ascii: ".")).map { Array($0) }
        let claims = Base64.decode(parts[1], .url).map { String(decoding: $0, as: UTF8.self) } ?? ""
        let header = #"{"alg":"HS256","typ":"switchboard-grant+jwt"}"#
        // The operator's signature under our header, and our claims under the operator's.
        #expect(both.verify(token(header: header, claims: claims), now: now).failure == .signature)
        #expect(both.verify(token(header: header), now: now).failure == .signature)
        let renamed =
            Array(base64url(goodHeader.utf8).utf8) + [UInt8(ascii: ".")] + parts[1] + [UInt8(ascii: ".")] + parts[2]
        #expect(both.verify(renamed, now: now).failure == .signature)
        for odd in [
            #"{"alg":"RS256","typ":"switchboard-grant+jwt"}"#,
            #"{"alg":"HS256","kid":"k","typ":"switchboard-grant+jwt"}"#,
        ] {
            #expect(both.verify(token(header: odd), now: now).failure == .header)
        }
        #expect(try verifier(GrantKeys()).verify(mine, now: now).failure == .key)
        #expect(try verifier(try grants(otherSecret)).verify(mine, now: now).failure == .signature)
    }

    @Test func aGrantEndsWithItsTimeItsSecretAndByRevocation() throws {
        let keys = try grants(otherSecret, secret)
        let made = try grant()
        let token = try #require(keys.sign(made))
        let judge = try verifier(keys)
        #expect(judge.verify(token, now: now + 90).failure == .expired)
        #expect(try verifier(try grants(secret, otherSecret)).verify(token, now: now).identity != nil)
        let identity = try #require(judge.verify(token, now: now).identity)
        let gone = Authenticator(verifier: try verifier(try grants(secret)), apiKeys: APIKeys())
        #expect(!gone.stillKnows(.user(identity)))
        #expect(Authenticator(verifier: judge, apiKeys: APIKeys()).stillKnows(.user(identity)))
        for subject in [Revocation.Subject.token(Array("m-1".utf8)), .user(Array("guest:1".utf8), until: now)] {
            var revoked = Revocations()
            revoked.add(Revocation(subject, forgetAt: now + 600))
            #expect(revoked.failure(for: identity) == .revoked)
        }
    }

    @Test func aConnectionKeepsTheGrantItHas() throws {
        let keys = try grants(otherSecret)
        let made = try grant("u1")
        let token = try #require(keys.sign(made))
        let judge = try verifier(keys)
        let narrow = try #require(judge.verify(token, now: now).identity)
        let whole = try #require(Identity(user: Array("u1".utf8), role: .user, topics: [], expiresAt: now + 60))
        #expect(!whole.mayRefresh(narrow) && !narrow.mayRefresh(whole) && narrow.mayRefresh(narrow))
    }

    @Test func secretsAreBounded() throws {
        var keys = try grants(secret)
        #expect(throws: RightsProblem.self) { try keys.addSecret(Array("short".utf8)) }
        for _ in 1..<GrantKeys.secretsMax { try keys.addSecret(otherSecret) }
        #expect(throws: RightsProblem.self) { try keys.addSecret(otherSecret) }
        #expect(GrantKeys().sign(try grant()) == nil)
    }
}
