import Core
import Rights
import Testing

@testable import Commands

/// Which arguments a call has, who it acts for, and what a caller is told.
@Suite struct BinderTests {
    private func command(_ arguments: String, allow: String = "user|service|anonymous") throws -> CommandDescriptor {
        try #require(try catalogue(reader("c", arguments, allow: allow)).command(named: "c"))
    }

    private func values(_ bound: BoundArguments) -> [String?] { bound.values.map { text($0) } }

    @Test func valuesStandInTheOrderOfTheHeader() throws {
        let command = try command("@arg a id\n@arg b int 0..9 = 3\n@arg c bool optional\n@arg d string 0..5 optional")
        #expect(values(try bind(command, "{\"d\":\"\",\"a\":5}")) == ["5", "3", nil, ""])
        #expect(values(try bind(command, "{\"c\":false,\"b\":null,\"a\":\"x\",\"d\":null}")) == ["x", "3", "0", nil])
        #expect(
            values(try bind(command, nil, path: [TextArgument(name: "a", value: bytes("7"))])) == ["7", "3", nil, nil])
    }

    /// A socket's own shop stands for a required argument, and for nothing else.
    @Test func whatIsKnownStandsForRequiredArguments() throws {
        let command = try command("@arg shopId id\n@arg barId id optional\n@arg n int 0..9 = 3")
        func bound(_ body: String, _ known: [String: [UInt8]]) throws -> [String?] {
            let root = try JSON(parsing: bytes(body), limits: JSON.Limits(depthMax: 8, elementsMax: 100)).root
            return values(try ArgumentBinder.bind(command, body: root, known: known, caller: .worker))
        }
        let known = ["shopId": bytes("42"), "barId": bytes("7"), "n": bytes("1"), "other": bytes("x")]
        #expect(try bound("{}", known) == ["42", nil, "3"])
        #expect(try bound("{\"shopId\":\"1\"}", known) == ["1", nil, "3"])
        #expect(try bound("{\"shopId\":null}", known) == ["42", nil, "3"])
        #expect(throws: Refusal.self) { try bound("{}", ["shopId": bytes("a b")]) }
        #expect(throws: Refusal.self) { try bound("{}", ["barId": bytes("7")]) }
    }

    @Test(arguments: [
        (
            "{}",
            "'shopId' is missing; it must be an id: a whole number, or a string of 1 to 200 of A-Z a-z 0-9 . _ ~ : -"
        ),
        (
            "{\"shopId\":null,\"n\":1}",
            "'shopId' is missing; it must be an id: a whole number, or a string of 1 to 200 of A-Z a-z 0-9 . _ ~ : -"
        ),
        (
            "{\"shopId\":\"a b\"}",
            "'shopId' must be an id: a whole number, or a string of 1 to 200 of A-Z a-z 0-9 . _ ~ : -"
        ),
        ("{\"shopId\":1,\"n\":10}", "'n' must be a whole number from 0 to 9"),
        ("{\"shopId\":1,\"n\":1e999}", "'n' must be a whole number from 0 to 9"),
        ("{\"shopId\":1,\"shopID\":1}", "'shopID' is no argument of c; did you mean shopId?"),
        ("{\"shopId\":1,\"zzzzzz\":1}", "'zzzzzz' is no argument of c"),
        ("{\"shopId\":1,\"a\\nb\\u0000\":1}", "'a?b?' is no argument of c"),
        ("{\"shopId\":1,\"unknown\":null}", "'unknown' is no argument of c"),
        ("{\"shopId\":1,\"id\":7}", "'id' must be one string of 1 to 128 of A-Z a-z 0-9 . _ ~ : -"),
        ("{\"shopId\":1,\"id\":\"-\"}", "'id' must be one string of 1 to 128 of A-Z a-z 0-9 . _ ~ : -"),
        ("[]", "The arguments must be a JSON object."),
    ])
    func aRefusalNamesTheArgumentAndWhatItMustBe(_ body: String, _ message: String) throws {
        let command = try command("@arg shopId id\n@arg n int 0..9 optional")
        let refused = try #require(try refusal(command, body))
        #expect(refused.code == .badRequest && refused.message == message)
        // An app's own sentence goes by the argument.
        let isOfN = message.hasPrefix("'n' must") || message.hasPrefix("'n' is")
        #expect((refused.subject == .argument("n")) == isOfN)
    }

    @Test func namesAreComparedByBytes() throws {
        let command = try command("@arg e id")
        #expect(try refusal(command, "{\"\\u0065\":1}") == nil, "an escape is another spelling of the same bytes")
        #expect(try refusal(command, "{\"e\":1,\"e\\u0301\":1}")?.code == .badRequest)
    }

    @Test func anArgumentGivenTwiceMustBeTheSame() throws {
        let command = try command("@arg shopId id\n@arg n number optional")
        func path(_ value: String) -> [TextArgument] { [TextArgument(name: "shopId", value: bytes(value))] }
        #expect(values(try bind(command, "{\"shopId\":42}", path: path("42"))) == ["42", nil])
        #expect(
            try refusal(command, "{\"shopId\":43}", path: path("42"))
                == Refusal(
                    .badRequest, "'shopId' is given twice, with different values", about: .argument("shopId")))
        #expect(try refusal(command, nil, path: path("42"), query: path("43"))?.code == .badRequest)
        let query = [TextArgument(name: "n", value: bytes("1.50"))]
        #expect(values(try bind(command, "{\"n\":15e-1}", path: path("1"), query: query)) == ["1", "1.5"])
        #expect(
            try refusal(command, nil, path: path("1"), query: [TextArgument(name: "N", value: [])])?.message
                == "'N' is no argument of c; did you mean n?")
    }

    @Test func theOperationIsTheCallersOwn() throws {
        let command = try command("@arg shopId id")
        #expect(try bind(command, "{\"shopId\":1}").operation == nil)
        #expect(try bind(command, "{\"shopId\":1,\"id\":\"op-1\"}").operation == MessageID(bytes("op-1")))
        #expect(try bind(command, "{\"shopId\":1,\"id\":null}").operation == nil)
        let query = [TextArgument(name: "shopId", value: bytes("1")), TextArgument(name: "id", value: bytes("op-2"))]
        #expect(try bind(command, nil, query: query).operation == MessageID(bytes("op-2")))
        #expect(try refusal(command, "{\"id\":\"op-1\"}", query: query)?.code == .badRequest)
    }

    /// Who calls, what is given, whether the argument is optional; then the user acted for, or the refusal.
    @Test(
        arguments: [
            ("u1", nil, false, "u1", nil), ("u1", "u1", false, "u1", nil), ("u1", "u2", false, nil, .forbidden),
            ("u1", "a b", false, nil, .badRequest), ("u1", nil, true, "u1", nil), ("u1", "u2", true, nil, .forbidden),
            ("service", nil, false, nil, .forbidden), ("service", "u2", false, "u2", nil),
            ("service", nil, true, nil, nil),
            ("worker", nil, false, nil, .badRequest), ("worker", "u2", false, "u2", nil),
            ("worker", nil, true, nil, nil),
            ("anonymous", nil, false, nil, .unauthorized), ("anonymous", "u2", false, nil, .unauthorized),
            ("anonymous", nil, true, nil, nil), ("anonymous", "u2", true, nil, .unauthorized),
        ] as [(String, String?, Bool, String?, ErrorCode?)])
    func usersActForThemselves(
        _ caller: String, _ given: String?, _ isOptional: Bool, _ acting: String?, _ code: ErrorCode?
    ) throws {
        let command = try command("@arg userId user\(isOptional ? " optional" : "")")
        let callers = ["service": service, "worker": .worker, "anonymous": anonymous]
        let caller = try callers[caller] ?? user(caller)
        let body = given.map { "{\"userId\":\"\($0)\"}" } ?? "{}"
        #expect(try refusal(command, body, caller: caller)?.code == code)
        guard code == nil else { return }
        let bound = try bind(command, body, caller: caller)
        #expect(text(bound.actingUser) == acting)
        #expect(values(bound) == [acting])
    }

    @Test func aCommandWithoutUserActsForTheTokensUser() throws {
        let command = try command("@arg shopId id")
        #expect(try bind(command, "{\"shopId\":1}", caller: user("u1")).actingUser == bytes("u1"))
        #expect(try bind(command, "{\"shopId\":1}").actingUser == nil)
        let token = try #require(Identity(user: bytes("backend"), role: .service, topics: nil, expiresAt: 0))
        let caller = CommandCaller(.user(token))
        #expect(caller.role == .service && caller.user == nil && caller.principal == bytes("backend"))
    }
}
