import Core
import RedisLink
import Rights
import TestSupport
import Testing

@testable import Commands

/// `KEYS` and `ARGV` exactly as the contract has them, and what replies mean.
@Suite struct CallTests {
    private static let settings = CommandSettings(
        keys: Keys(prefix: bytes("p:")), policies: StandardTables.namespaces,
        outbox: OutboxRoom(laneMax: 1_000, payerMax: 100), doneSeconds: 300,
        membersMax: 100, callsMax: 1,
        answerLimits: JSON.Limits(depthMax: 32, elementsMax: 1_000), answerBytesMax: 65_536, nowMs: { 5 })
    private let builder = CommandCallBuilder(CallTests.settings)
    private let stamp = CommandCallBuilder.CallStamp(
        nowMs: 1_795_205_000_000, run: bytes("run"), epoch: bytes("e-1"), random: bytes("abcd"))

    private func texts(_ list: [[UInt8]]?) -> [String] { (list ?? []).map { String(decoding: $0, as: UTF8.self) } }

    private static let vote = script(
        "vote",
        """
        @command vote
        @summary S.
        @allow user|service
        @arg userId user
        @arg shopId id
        @arg trackId string 1..99
        @arg vote enum up,down
        @arg weight number optional
        @key tracks dj:{shopId}#tracks
        @key votes dj:{shopId}#votes#{trackId}
        @key queue queue:{shopId}
        @topic dj:{shopId}
        @topic shop:{shopId}
        @topic user:*
        @returns {}
        @errors not_present 403, full
        @cost O(1)
        @random
        """)

    @Test func aCallHasTheContractsKeysAndArguments() throws {
        let vote = try #require(try catalogue(CallTests.vote).command(named: "vote"))
        let caller = try user("u1")
        let bound = try bind(
            vote, "{\"shopId\":42,\"trackId\":\"t #1\",\"vote\":\"up\",\"id\":\"op-1\"}", caller: caller)
        let operation = OperationID.named(try #require(bound.operation))
        let known = Position(epoch: bytes("k"), offset: 7)
        let call = builder.call(vote, bound, caller: caller, operation: operation, fence: nil, stamp) {
            $0.bytes == bytes("dj:42") ? known : nil
        }
        let digest = String(decoding: CommandCallBuilder.digest(caller, operation), as: UTF8.self)
        let fingerprint = String(decoding: CommandCallBuilder.fingerprint(vote, bound), as: UTF8.self)
        #expect(
            texts(call?.keys) == [
                "p:#outbox:9", "p:dj:42#done#" + digest, "p:dj:42#log", "p:dj:42#meta", "p:shop:42#log",
                "p:shop:42#meta",
                "p:dj:42#tracks", "p:dj:42#votes#t #1", "p:queue:42",
            ])
        #expect(
            texts(call?.arguments) == [
                "1795205000000", "u1", "user", "run", "e-1", fingerprint, "300", "abcd", "p:",
                "1000 100 user:u1", "", "11110", "dj:42", "p:dj:42", "500", "3600", "90000", "k 7", "shop:42",
                "p:shop:42", "200", "300", "86700", "",
                "u1", "42", "t #1", "up", "",
            ])
        let isHexadecimal = (digest + fingerprint).utf8.allSatisfy { ASCII.hexValue($0) != nil }
        #expect(digest.count == 32 && fingerprint.count == 64 && isHexadecimal)
    }

    /// The generated Lua and the built call agree: each `KEYS[n]` and `ARGV[n]` it names holds what it says.
    @Test func theGeneratedLuaReadsWhatTheCallHolds() throws {
        let vote = try #require(try catalogue(CallTests.vote).command(named: "vote"))
        let body = "{\"shopId\":42,\"trackId\":\"t1\",\"vote\":\"down\",\"weight\":2.5,\"userId\":\"u9\"}"
        let bound = try bind(vote, body)
        let call = try #require(
            builder.call(vote, bound, caller: service, operation: nil, fence: nil, stamp))
        let lua = GeneratedLua.lines(vote).joined(separator: "\n")
        func at(_ text: String, _ list: String) throws -> String {
            let after = try #require(HeaderText.cut(lua, at: text + list + "[")).after
            let number = try #require(Int(after.prefix { $0.isNumber }))
            return texts(list == "KEYS" ? call.keys : call.arguments)[number - 1]
        }
        #expect(try at("tracks = ", "KEYS") == "p:dj:42#tracks")
        #expect(try at("votes = ", "KEYS") == "p:dj:42#votes#t1")
        #expect(try at("queue = ", "KEYS") == "p:queue:42")
        #expect(try at("userId = ", "ARGV") == "u9")
        #expect(try at("shopId = ", "ARGV") == "42")
        #expect(try at("vote = ", "ARGV") == "down")
        #expect(try at("weight = tonumber(", "ARGV") == "2.5")
        let second = try #require(HeaderText.cut(lua, at: "}, [ARGV[")).after
        #expect(second.hasPrefix("19]] = {log = KEYS[5]"))
        #expect(call.arguments[1] == bytes("u9"), "the user acted for")
    }

    @Test func withoutAnOperationThereIsNoFingerprint() throws {
        let vote = try #require(try catalogue(CallTests.vote).command(named: "vote"))
        let bound = try bind(vote, "{\"shopId\":42,\"trackId\":\"t\",\"vote\":\"up\",\"userId\":7}")
        let call = builder.call(vote, bound, caller: service, operation: nil, fence: nil, stamp)
        #expect(texts(call?.keys).prefix(2).map(\.self) == ["p:#outbox:9", "p:#outbox:9"])
        #expect(texts(call?.arguments)[5] == "" && texts(call?.arguments)[9] == "1000 0 service:backend")

        let reading = try #require(try catalogue(reader("r", "@arg x id", allow: "service")).command(named: "r"))
        let id = try #require(MessageID(bytes("op")))
        let read = builder.call(
            reading, try bind(reading, "{\"x\":1}"), caller: service, operation: .named(id), fence: nil, stamp)
        #expect(texts(read?.keys) == ["p:#outbox:10", "p:#outbox:10"], "nobody's: it leaves nothing")
        #expect(
            texts(read?.arguments) == [
                "1795205000000", "", "service", "run", "e-1", "", "300", "", "p:", "1000 0 anonymous", "", "1", "1",
            ])
    }

    /// Each relayed heartbeat left a key of 200 bytes for an hour.
    @Test func anIdempotentCommandIsNotRemembered() throws {
        let beat = try #require(try catalogue(command("beat", "@idempotent")).command(named: "beat"))
        let id = OperationID.named(try #require(MessageID(bytes("op"))))
        let call = builder.call(
            beat, try bind(beat, "{\"shopId\":42}"), caller: .worker, operation: id, fence: nil, stamp)
        #expect(texts(call?.keys).prefix(2).map(\.self) == ["p:#outbox:13", "p:#outbox:13"], "that of the home")
        #expect(texts(call?.arguments)[5] == "")
        #expect(
            problems(command("a", "@idempotent\n@random")) == [
                "a.lua:8: @idempotent: no two runs with @random are alike"
            ])
    }

    @Test func aRefreshHasItsFenceLastAndItsToken() throws {
        let all = try catalogue(
            script("r", "@refresh shop:{shopId}#b\n@summary S.\n@cost O(1)\n@arg shopId id\n@key b shop:{shopId}#b"))
        let refresh = try #require(all.refresh(named: "r"))
        let bound = try bind(refresh, "{\"shopId\":\"42\"}", caller: .worker)
        let call = builder.call(refresh, bound, caller: .worker, operation: nil, fence: 17, stamp)
        #expect(texts(call?.keys) == ["p:#outbox:1", "p:#outbox:1", "p:shop:42#b", "p:shop:42#fence"])
        #expect(
            texts(call?.arguments) == [
                "1795205000000", "", "worker", "run", "e-1", "", "300", "", "p:", "1000 100 shop:42", "17", "1", "42",
            ])
        let trigger = try #require(refresh.refresh?.triggers.first)
        #expect(trigger.id(inKey: bytes("p:shop:42#b"), CallTests.settings.keys) == bytes("42"))
        for other in ["shop:42#b", "p:shop:42#c", "p:shop:42", "p:shops:42#b", "p:shop:42#b#x", "p:shop:#b", "p:", ""] {
            #expect(trigger.id(inKey: bytes(other), CallTests.settings.keys) == nil, "\(other)")
        }
    }

    @Test func operationsBelongToTheirCallerAndNotToACommand() throws {
        let id = OperationID.named(try #require(MessageID(bytes("1"))))
        let callers = try [
            user("u1"), user("u2"), service, CommandCaller(.service("other")), CommandCaller(.service("u1")), anonymous,
            .worker,
        ]
        let operations: [OperationID] = [
            id, .numbered(connection: bytes("c1"), number: bytes("1")),
            .numbered(connection: bytes("c"), number: bytes("11")),
            .numbered(connection: bytes("c2"), number: bytes("1")),
        ]
        var seen: Set<[UInt8]> = []
        for caller in callers {
            for operation in operations {
                #expect(seen.insert(CommandCallBuilder.digest(caller, operation)).inserted)
                #expect(CommandCallBuilder.digest(caller, operation) == CommandCallBuilder.digest(caller, operation))
            }
        }
    }

    @Test func fingerprintsDifferWithTheCommandAndEachArgument() throws {
        let both = try catalogue(
            reader("a", "@arg x string 0..9 optional\n@arg y string 0..9 optional"),
            reader("b", "@arg x string 0..9 optional\n@arg y string 0..9 optional"))
        var seen: Set<[UInt8]> = []
        for name in ["a", "b"] {
            let descriptor = try #require(both.command(named: name))
            for body in [
                "{}", "{\"x\":\"\"}", "{\"y\":\"\"}", "{\"x\":\"12\"}", "{\"x\":\"1\",\"y\":\"2\"}", "{\"y\":\"12\"}",
            ] {
                let print = CommandCallBuilder.fingerprint(descriptor, try bind(descriptor, body))
                #expect(seen.insert(print).inserted, "\(name) \(body)")
            }
        }
        let a = try #require(both.command(named: "a"))
        #expect(
            CommandCallBuilder.fingerprint(a, try bind(a, "{\"x\":\"\\u0041\",\"id\":\"1\"}"))
                == CommandCallBuilder.fingerprint(a, try bind(a, "{\"y\":null,\"x\":\"A\"}")))
    }

    // MARK: Replies

    private func read(_ reply: Result<RESPValue, RedisFailure>) throws -> CommandReply.Reading {
        let vote = try #require(try catalogue(CallTests.vote).command(named: "vote"))
        return CommandReply.read(reply, vote, CallTests.settings)
    }

    @Test func anAnswerIsAnObjectOrAFault() throws {
        for (retry, isRetry) in [(0, false), (1, true)] {
            let reading = try read(.success(.array([.string(bytes("{\"a\":1}")), .integer(retry)])))
            #expect(reading.outcome == .answer(CommandAnswer(json: bytes("{\"a\":1}"), isRetry: isRetry, price: 0)))
            #expect(reading.fault == nil)
        }
        for price in [12, 7_000] {
            let plain = try read(.success(.string(bytes("\(price) {\"a\": 1}"))))
            #expect(plain.outcome == .answer(CommandAnswer(json: bytes("{\"a\": 1}"), isRetry: false, price: price)))
        }
        let wrong: [RESPValue] = [
            .string(bytes("-1 {}")), .string(bytes(" {}")), .string(bytes("1{}")), .string(bytes("")),
            .string(bytes("7001 {}")), .string(bytes("1:9223372036854775807 {}")),
            .string(bytes("1:1073741825 {}")), .string(bytes("9223372036854775807 {}")), .string(bytes("1 [] ")),
            .array([.string(bytes("{}")), .integer(0), .integer(.max)]),
            .array([.string(bytes("{}")), .integer(0), .integer(-1)]),
            .null, .string(bytes("{}")), .array([.string(bytes("{}"))]), .array([.null, .integer(0)]),
            .array([.string(bytes("{}")), .integer(2)]), .array([.string(bytes("{}")), .string(bytes("0"))]),
            .array([.string(bytes("[]")), .integer(0)]), .array([.string(bytes("{")), .integer(0)]),
            .array([.string([0x7b, 0xff, 0x7d]), .integer(0)]), .array([.string(bytes("{\"a\":NaN}")), .integer(0)]),
        ]
        for reply in wrong {
            let reading = try read(.success(reply))
            #expect(reading.outcome.failureCode == "internal", "\(reply)")
            #expect(reading.fault != nil)
        }
    }

    /// The line of the error; then code, status, message, and whether its author must hear of it.
    @Test(arguments: [
        ("FAIL not_present Must be at shop to vote", "not_present", 403, "Must be at shop to vote", false),
        ("FAIL full No room", "full", 409, "No room", false),
        ("FAIL not_found No such track", "not_found", 404, "No such track", false),
        ("FAIL unavailable the outbox is full", "unavailable", 503, "the outbox is full", false),
        ("FAIL bad_request", "bad_request", 400, "", false),
        ("FAIL invented Whatever", "internal", 500, "the command failed; the gateway's log tells why", true),
        (
            "FAULT user_script:310: attempt to index nil", "internal", 500,
            "the command failed; the gateway's log tells why", true
        ),
        ("BADKEY log holds another type", "internal", 500, "the command failed; the gateway's log tells why", true),
        ("WRONGTYPE Operation against a key", "internal", 500, "the store refused the operation", true),
        ("OOM command not allowed", "unavailable", 503, "the store is not available; try again", false),
        ("READONLY You can't write", "unavailable", 503, "the store is not available; try again", false),
    ])
    func errorsAreToldByTheirCode(_ line: String, _ code: String, _ status: Int, _ message: String, _ isFault: Bool)
        throws
    {
        let reading = try read(.failure(RedisFailure(reply: bytes(line))))
        guard case .refused(let refusal) = reading.outcome else { throw NoUser() }
        #expect(refusal.name == code && refusal.status == status && refusal.message == message)
        #expect(refusal.isUnavailable == (code == "unavailable"))
        #expect((reading.fault != nil) == isFault)
    }

    @Test(arguments: [
        (false, nil, "user"), (true, nil, "guest"), (false, "dana k", "user dana k"), (true, "guest", "guest guest"),
    ])
    func aScriptIsToldWhatTheTokenSaysOfItsUser(_ isGuest: Bool, _ name: String?, _ text: String) throws {
        for (role, told) in [(Identity.Role.user, text), (.service, "service")] {
            let identity = try #require(
                Identity(
                    user: bytes("u1"), role: role, topics: nil, expiresAt: 0, isGuest: isGuest,
                    name: name.map { bytes($0) }))
            let vote = try #require(try catalogue(CallTests.vote).command(named: "vote"))
            let caller = CommandCaller(.user(identity))
            let bound = try bind(
                vote, "{\"shopId\":42,\"trackId\":\"t\",\"vote\":\"up\",\"userId\":\"u1\"}", caller: caller)
            let call = try #require(builder.call(vote, bound, caller: caller, operation: nil, fence: nil, stamp))
            #expect(call.arguments[2] == bytes(told))
        }
    }

    @Test func aFencedRefreshIsNoFault() throws {
        let reading = try read(.failure(RedisFailure(reply: bytes("FENCED another worker has this since"))))
        #expect(reading.outcome == .fenced && reading.fault == nil)
        let lost = try read(.failure(RedisFailure(.timedOut)))
        #expect(lost.outcome.failureCode == "unavailable" && lost.fault == nil)
    }
}

extension CommandOutcome {
    /// The name of the refusal; `nil` for an answer.
    var failureCode: String? {
        if case .failure(let refusal) = result { return refusal.name }
        return nil
    }
}
