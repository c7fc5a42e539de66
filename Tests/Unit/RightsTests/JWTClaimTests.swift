import Core
import Testing

@testable import Rights

/// Claims of tokens whose signature is good.
@Suite struct JWTClaimTests {
    private func failure(_ claims: String, _ rules: TokenRules = rules(), now: Int = now) throws -> TokenFailure? {
        try secretVerifier(rules).verify(token(claims: claims), now: now).failure
    }

    @Test(arguments: [
        "", "null", "[]", "1", "\"u1\"", "{", #"{"sub":"u1","exp":1800000600} "x""#, #"{"sub":"u1","exp":1800000600,}"#,
        #"{"sub":"u1","sub":"u2","exp":1800000600}"#, #"{"sub":"u1","exp":1,"exp":1800000600}"#,
        #"{"sub":"u1","\u0073ub":"u2","exp":1800000600}"#, #"{"sub":"u1","exp":1800000600,"x":{"a":1,"a":2}}"#,
        #"{"sub":"\ud800","exp":1800000600}"#, #"{"sub":"u1","exp":1800000600,"x":[[[[[[[[1]]]]]]]]}"#,
    ])
    func brokenOrDuplicateClaimsAreRefused(_ claims: String) throws {
        #expect(try failure(claims) == .claims)
    }

    @Test func tooManyValuesAreRefused() throws {
        let many = [String](repeating: "1", count: 1_100).joined(separator: ",")
        #expect(try failure(#"{"sub":"u1","exp":1800000600,"x":[\#(many)]}"#) == .claims)
    }

    @Test(arguments: [
        "\"1800000600\"", "1800000600.0", "1800000600.5", "18e8", "1.8e9", "1e400", "-1e400", "-1", "-1800000600",
        "18446744073709551616", "9223372036854775807", "9223372036854775808", "253402300800", "null", "true", "[]",
        "[1800000600]", "{}", "\"\"", "-0",
    ])
    func timesThatAreNoWholeSecondsAreRefused(_ value: String) throws {
        #expect(try failure(#"{"sub":"u1","exp":\#(value)}"#) == .time)
        #expect(try failure(#"{"sub":"u1","exp":1800000600,"nbf":\#(value)}"#) == .time)
        #expect(try failure(#"{"sub":"u1","exp":1800000600,"iat":\#(value)}"#) == .time)
    }

    @Test func expIsRequired() throws {
        #expect(try failure(#"{"sub":"u1"}"#) == .time)
        #expect(try failure(#"{"sub":"u1","Exp":1800000600}"#) == .time)
    }

    @Test func expIsPastByTheLeewayToTheSecond() throws {
        for (offset, expected) in [(28, nil), (29, nil), (30, .expired), (31, TokenFailure.expired)] {
            #expect(try failure(#"{"sub":"u1","exp":1000}"#, now: 1_000 + offset) == expected)
        }
        #expect(try failure(#"{"sub":"u1","exp":0}"#, now: 29) == nil)
        #expect(try failure(#"{"sub":"u1","exp":253402300799}"#, now: now) == nil)
    }

    @Test func nbfIsAheadByTheLeewayToTheSecond() throws {
        for (offset, expected) in [(-29, nil), (-30, nil), (-31, TokenFailure.notYet), (-32, .notYet)] {
            #expect(try failure(#"{"sub":"u1","exp":1800000600,"nbf":1000}"#, now: 1_000 + offset) == expected)
        }
    }

    @Test func leewayOfZeroIsExact() throws {
        var rules = rules()
        rules.leewaySeconds = 0
        #expect(try failure(#"{"sub":"u1","exp":1000}"#, rules, now: 999) == nil)
        #expect(try failure(#"{"sub":"u1","exp":1000}"#, rules, now: 1_000) == .expired)
    }

    @Test(arguments: ["", #","iss":"https://other""#, #","iss":"https://issuer/""#, #","iss":"HTTPS://issuer""#])
    func wrongOrMissingIssuerIsRefused(_ member: String) throws {
        let claims = #"{"sub":"u1","exp":1800000600\#(member)}"#
        #expect(try failure(claims, rules(issuer: "https://issuer")) == .issuer)
        #expect(try failure(claims) == nil)
    }

    @Test(arguments: ["1", "null", "[\"https://issuer\"]", "\"\(String(repeating: "x", count: 257))\""])
    func issuerOfAnotherKindIsRefusedEvenUnasked(_ value: String) throws {
        #expect(try failure(#"{"sub":"u1","exp":1800000600,"iss":\#(value)}"#) == .issuer)
    }

    @Test func rightIssuerIsAccepted() throws {
        let claims = #"{"sub":"u1","exp":1800000600,"iss":"https://issuer"}"#
        #expect(try failure(claims, rules(issuer: "https://issuer")) == nil)
    }

    @Test(arguments: [
        ("", false), (#","aud":"us""#, true), (#","aud":["them","us"]"#, true), (#","aud":"them""#, false),
        (#","aud":[]"#, false), (#","aud":"us ""#, false), (#","aud":"US""#, false), (#","aud":["us",1]"#, false),
        (#","aud":{"us":1}"#, false), (#","aud":null"#, false), (#","aud":1"#, false),
    ])
    func audienceMustNameUs(_ member: String, _ accepted: Bool) throws {
        let claims = #"{"sub":"u1","exp":1800000600\#(member)}"#
        #expect(try failure(claims, rules(audience: "us")) == (accepted ? nil : .audience))
    }

    @Test func audienceIsNotJudgedUnlessConfigured() throws {
        #expect(try failure(#"{"sub":"u1","exp":1800000600,"aud":"them"}"#) == nil)
        #expect(try failure(#"{"sub":"u1","exp":1800000600,"aud":7}"#) == .audience)
    }

    @Test(arguments: [
        "\"\"", "1", "null", "[\"u1\"]", "\"a b\"", "\"a/b\"", "\"a\\u0000b\"", "\"a\\nb\"", "\"é\"", "\"u*\"",
        "\"u#1\"",
        "\"\(String(repeating: "x", count: 129))\"",
    ])
    func subjectThatIsNoTopicIDIsRefused(_ value: String) throws {
        #expect(try failure(#"{"sub":\#(value),"exp":1800000600}"#) == .subject)
    }

    @Test func subjectIsRequired() throws {
        #expect(try failure(#"{"exp":1800000600}"#) == .subject)
    }

    @Test func subjectOfTheGreatestLengthIsAccepted() throws {
        #expect(try failure(#"{"sub":"\#(String(repeating: "x", count: 128))","exp":1800000600}"#) == nil)
    }

    @Test(arguments: [
        "\"admin\"", "\"User\"", "\"SERVICE\"", "\"service \"", "\"\"", "1", "null", "[\"service\"]",
        "\"service_role\"",
    ])
    func wrongRoleIsRefused(_ value: String) throws {
        #expect(try failure(#"{"sub":"u1","exp":1800000600,"role":\#(value)}"#) == .role)
    }

    @Test(arguments: [("user", Identity.Role.user), ("service", .service)])
    func rolesAreRead(_ name: String, _ role: Identity.Role) throws {
        let claims = #"{"sub":"u1","exp":1800000600,"role":"\#(name)"}"#
        #expect(try secretVerifier().verify(token(claims: claims), now: now).identity?.role == role)
    }

    @Test(arguments: [
        "\"order:*\"", "null", "{}", "1", "[1]", "[null]", "[\"*\"]", "[\"*:*\"]", "[\"order\"]", "[\"order:\"]",
        "[\"order:7\",\"\"]", "[\"order:*x\"]", "[\"or*\"]", "[\"order:**\"]", "[\"Order:1\"]", "[\"order:a b\"]",
        "[[\"order:1\"]]",
    ])
    func topicsOutOfTheGrammarRefuseTheToken(_ value: String) throws {
        #expect(try failure(#"{"sub":"u1","exp":1800000600,"topics":\#(value)}"#) == .topics)
    }

    @Test(arguments: [(256, true), (257, false)])
    func topicsAreBounded(_ count: Int, _ accepted: Bool) throws {
        let topics = (0..<count).map { "\"o:\($0)\"" }.joined(separator: ",")
        #expect(try failure(#"{"sub":"u1","exp":1800000600,"topics":[\#(topics)]}"#) == (accepted ? nil : .topics))
    }

    @Test func everythingIsRead() throws {
        let claims = #"""
            {"sub":"u1","role":"user","topics":["order:*","conversation:7"],"exp":1800000600,"nbf":1800000000,
             "iat":1799999999,"iss":"https://issuer","aud":"us","jti":"t-1","other":{"a":[1.5,null]}}
            """#
        let identity = try secretVerifier(rules(issuer: "https://issuer", audience: "us"))
            .verify(token(claims: claims), now: now).identity
        #expect(
            identity
                == Identity(
                    user: Array("u1".utf8), role: .user,
                    topics: ["order:*", "conversation:7"].compactMap { TopicPattern($0) }, expiresAt: 1_800_000_600,
                    issuedAt: 1_799_999_999, issuer: Array("https://issuer".utf8), tokenID: Array("t-1".utf8),
                    keyMark: try #require(identity).keyMark))
        #expect(identity?.topics.count == 2)
    }

    @Test(arguments: [
        (#"{}"#, nil), (#"{"username":"dana"}"#, "dana"), (#"{"username":""}"#, nil), (#"{"username":7}"#, nil),
        (#"{"username":"a\u0000b"}"#, nil), (#"{"username":"a\nb"}"#, nil), (#"["username"]"#, nil), (#""dana""#, nil),
    ])
    func aNameThatCannotBeShownIsNone(_ metadata: String, _ name: String?) throws {
        let claims = #"{"sub":"u1","exp":1800000600,"is_anonymous":"true","user_metadata":\#(metadata)}"#
        let identity = try #require(secretVerifier(rules()).verify(token(claims: claims), now: now).identity)
        #expect(identity.name == name.map { Array($0.utf8) })
        #expect(!identity.isGuest, "only the JSON value true makes a guest")
    }

    @Test func aNameHasAtMost64Characters() throws {
        for (count, isName) in [(64, true), (65, false)] {
            let text = [String](repeating: "😀", count: count).joined()
            #expect(Identity.isName(Array(text.utf8)) == isName)
        }
    }
}
