import Core
import TestSupport
import Testing

@testable import Rights

/// Rule by caller, for subscribing and publishing.
@Suite struct AccessPolicyTests {
    enum Expected: Sendable {
        case allow, ask, unauthorized, forbidden
    }

    /// Who asks, of the topic `<rule>:u1`.
    enum Asker: CaseIterable, Sendable {
        case anonymous, stranger, owner, granted, service, serviceToken, boundService, otherBoundService

        var caller: Caller {
            func token(_ user: String, _ role: Identity.Role = .user, _ topics: [String]? = nil) -> Caller {
                let patterns = topics?.compactMap { TopicPattern($0) }
                return Identity(user: Array(user.utf8), role: role, topics: patterns, expiresAt: 0)
                    .map { .user($0) } ?? .anonymous
            }
            return switch self {
            case .anonymous: .anonymous
            case .stranger: token("u2", .user, ["granted:u2", "granted:u11", "granted:u1:*"])
            case .owner: token("u1")
            case .granted: token("u2", .user, ["user:u1", "owner:*", "granted:u*", "service:*"])
            case .service: .service("orders")
            case .serviceToken: token("backend", .service)
            case .boundService:
                token("backend", .service, NamespacePolicy.Rule.allCases.map { "\($0.rawValue):u1" })
            case .otherBoundService:
                token("backend", .service, NamespacePolicy.Rule.allCases.map { "\($0.rawValue):u1-*" })
            }
        }
    }

    static func expected(_ rule: NamespacePolicy.Rule, _ asker: Asker) -> Expected {
        switch (rule, asker) {
        case (_, .service), (_, .serviceToken), (_, .boundService): .allow
        // Even where anyone may: the token is for its topics only.
        case (_, .otherBoundService): .forbidden
        case (.anyone, _): .allow
        case (_, .anonymous): .unauthorized
        case (.user, _): .allow
        case (.owner, .owner): .allow
        case (.owner, _): .forbidden
        case (.granted, .granted): .allow
        case (.granted, _): .ask
        case (.service, _): .forbidden
        }
    }

    private static func code(_ decision: AccessPolicy.Decision) -> Expected? {
        switch decision {
        case .allow: .allow
        case .askMembership: .ask
        case .refuse(let refusal):
            refusal.code == .unauthorized ? .unauthorized : refusal.code == .forbidden ? .forbidden : nil
        }
    }

    @Test(arguments: NamespacePolicy.Rule.allCases, Asker.allCases)
    func ruleByCaller(_ rule: NamespacePolicy.Rule, _ asker: Asker) throws {
        let topic = try #require(Topic("\(rule.rawValue):u1"))
        for other in NamespacePolicy.Rule.allCases {
            // The other right must not matter: subscribe and publish are separate.
            let subscribing = try AccessPolicy([
                rule.rawValue: NamespacePolicy(
                    subscribe: rule, publish: other, logEventsMax: 1, logSeconds: 1, slow: .disconnect)
            ])
            let publishing = try AccessPolicy([
                rule.rawValue: NamespacePolicy(
                    subscribe: other, publish: rule, logEventsMax: 1, logSeconds: 1, slow: .disconnect)
            ])
            let expected = AccessPolicyTests.expected(rule, asker)
            #expect(AccessPolicyTests.code(subscribing.subscribe(topic, asker.caller)) == expected)
            #expect(AccessPolicyTests.code(publishing.publish(topic, asker.caller)) == expected)
        }
    }

    @Test(arguments: Asker.allCases, ["shops:1", "sho:1", "shop-:1", "unknown:1"])
    func unknownNamespaceIsNotFoundToEveryone(_ asker: Asker, _ name: String) throws {
        let policy = try AccessPolicy(StandardTables.namespaces)
        let topic = try #require(Topic(name))
        for decision in [policy.subscribe(topic, asker.caller), policy.publish(topic, asker.caller)] {
            guard case .refuse(let refusal) = decision else {
                Issue.record("allowed")
                continue
            }
            #expect(refusal.code == .notFound)
        }
        #expect(policy.policy(of: topic) == nil)
    }

    @Test func membershipDecides() {
        #expect(AccessPolicy.Decision.membership(true) == .allow)
        #expect(AccessPolicyTests.code(.membership(false)) == .forbidden)
    }

    @Test func defaultsAreAsTheDesignSays() throws {
        let policy = try AccessPolicy(StandardTables.namespaces)
        let user = Asker.owner.caller
        func topic(_ text: String) throws -> Topic { try #require(Topic(text)) }
        for open in ["shop:1", "dj:1", "challenge:1"] {
            #expect(try policy.subscribe(topic(open), .anonymous) == .allow)
            #expect(try AccessPolicyTests.code(policy.publish(topic(open), user)) == .forbidden)
        }
        for asked in ["order:1", "booking:1", "session:1", "conversation:1"] {
            #expect(try AccessPolicyTests.code(policy.subscribe(topic(asked), .anonymous)) == .unauthorized)
            #expect(try policy.subscribe(topic(asked), user) == .askMembership)
        }
        #expect(try policy.publish(topic("conversation:1"), user) == .askMembership)
        #expect(try AccessPolicyTests.code(policy.publish(topic("order:1"), user)) == .forbidden)
        #expect(try policy.subscribe(topic("user:u1"), user) == .allow)
        #expect(try AccessPolicyTests.code(policy.subscribe(topic("user:u2"), user)) == .forbidden)
        #expect(try AccessPolicyTests.code(policy.publish(topic("user:u1"), user)) == .forbidden)
    }

    @Test(arguments: ["", "Shop", "shop:1", "1shop", "s hop", "shöp", "shop\0", String(repeating: "n", count: 33)])
    func namesThatNoTopicHasAreRefused(_ name: String) throws {
        let policy = try #require(StandardTables.namespaces["shop"])
        #expect(throws: RightsProblem.namespace(name)) { try AccessPolicy([name: policy]) }
    }

    /// The owner rule compares bytes: neither case nor a longer or shorter id will do.
    @Test(arguments: ["U1", "u", "u11", "u1:", "u1:x", "1u", "u1."])
    func ownerIsComparedByBytes(_ id: String) throws {
        let policy = try AccessPolicy(StandardTables.namespaces)
        let topic = try #require(Topic("user:" + id))
        #expect(AccessPolicyTests.code(policy.subscribe(topic, Asker.owner.caller)) == .forbidden)
    }

    /// A key that was narrowed to one use has no other, whatever the namespace allows.
    @Test(arguments: NamespacePolicy.Rule.allCases)
    func aNarrowedKeyHasOneUse(_ rule: NamespacePolicy.Rule) throws {
        let policy = try AccessPolicy([
            "a": NamespacePolicy(subscribe: rule, publish: rule, logEventsMax: 1, logSeconds: 1, slow: .disconnect)
        ])
        let topic = try #require(Topic("a:1"))
        let expected: [(APIKeyRights, Bool, Bool)] = [
            (.read, true, false), (.write, false, true), ([.read, .write], true, true), (.tap, false, false),
            (.everything, true, true),
        ]
        for (rights, reads, writes) in expected {
            let caller = Caller.service(APIKeyHolder("k", rights))
            #expect((policy.subscribe(topic, caller) == .allow) == reads)
            #expect((policy.publish(topic, caller) == .allow) == writes)
        }
    }
}
