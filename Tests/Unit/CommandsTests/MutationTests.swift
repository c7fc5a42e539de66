import Core
import TestSupport
import Testing

@testable import Commands

/// Headers and arguments changed at random: whatever comes in, the outcome is a value or told problems, never a trap.
@Suite struct MutationTests {
    private static let pieces = [
        "-- @", "@", "{", "}", "#", ":", "..", "|", ",", "=", " -- ", "\n", "\r\n", "\t", "\0", "é", "arg", "key",
        "topic",
        "optional", "string", "int", "enum", "json", "-9223372036854775808", "9223372036854775807", "1e999", "shopId",
        "*", "/", " as ", " fold lower", "geohash(", " else ", "@span", "@resolve", "@derive",
    ]

    private static func mutated(_ source: [UInt8], _ random: inout Seeded) -> [UInt8] {
        var result = source
        for _ in 0..<Int.random(in: 1...8, using: &random) {
            let place = Int.random(in: 0...result.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                result.removeSubrange(place..<min(result.count, place + Int.random(in: 0...20, using: &random)))
            case 1:
                result.insert(UInt8.random(in: 0...255, using: &random), at: place)
            case 2:
                result.insert(contentsOf: bytes(pieces.randomElement(using: &random) ?? ""), at: place)
            default:
                let start = Int.random(in: 0...result.count, using: &random)
                let piece = Array(result[start..<min(result.count, start + 40)])
                result.insert(contentsOf: piece, at: place)
            }
        }
        return result
    }

    private static let seeds = [
        command("a", "@topic dj:{shopId}\n@http POST /v1/x/{shopId}\n@errors full 410\n@emits e {x}\n@calls a").bytes,
        reader("r", "@arg a string 1..5 = x\n@arg b json 9 2\n@arg c ids 0..9\n@arg d number -1..1").bytes,
        script("s", "@refresh shop:{x}#b\n@coalesce 9 ms\n@summary S.\n@cost O(1)\n@arg x id\n@key b shop:{x}#b").bytes,
        command(
            "w",
            "@arg item id fold lower as id\n@arg lat number -90..90 as la\n@arg lon number -180..180 = 0\n"
                + "@derive c = geohash(lat, lon, 6)\n@resolve r = user:{shopId}#r f else gone 410 -- None.\n"
                + "@span -- Both.\n@key k dj:{c}#k#{r}\n@topic user:{r}\n@http PUT /v1/x/{id} 204"
        ).bytes,
        script("t", "@state shop\n@summary S.\n@key c queue:{id}\n@cost O(1)").bytes,
    ]

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func headersNeverTrapAndProblemsHaveTheirPlace(_ seed: UInt64) {
        var random = Seeded(seed)
        let assembler = ScriptAssembler(
            prelude: noFile, command: [], outside: nil, subscribe: noFile, position: noFile, quick: [:])
        var accepted = 0
        for round in 0..<Histories.count(750, atLeast: 600) {
            let source = MutationTests.mutated(MutationTests.seeds[round % MutationTests.seeds.count], &random)
            let file = ScriptFile(name: "f", path: "f.lua", bytes: source)
            let lines = source.count { $0 == 0x0a } + 1
            do throws(CatalogueFailure) {
                let all = try Catalogue(
                    embedded: [], operators: [file], namespaces: namespaces, reservedPaths: [])
                accepted += 1
                for script in assembler.scripts(all) {
                    #expect(script.translate("user_script:\(script.bodyLineOffset + 1):") == "f.lua:1:")
                }
            } catch {
                #expect(!error.problems.isEmpty, "seed \(seed) round \(round)")
                for problem in error.problems {
                    #expect((1...lines).contains(problem.line), "seed \(seed) round \(round): \(problem)")
                    #expect(!PrintableText.hasControl(problem.description), "seed \(seed) round \(round): \(problem)")
                }
            }
        }
        #expect(accepted > 0, "seed \(seed): mutations that change prose are accepted")
    }

    /// What is bound is of its type, and fits into the call.
    @Test(arguments: [11, 12, 13, 14] as [UInt64])
    func argumentsNeverTrapAndAreOfTheirType(_ seed: UInt64) throws {
        let all = try catalogue(
            script(
                "c",
                """
                @command c
                @summary S.
                @allow service
                @arg a id
                @arg b string 0..4 optional
                @arg c int -5..5 = 1
                @arg d number optional
                @arg e ids 0..3 optional
                @arg f json 30 3 optional
                @arg g time optional
                @arg h bool optional
                @arg m string 1..9 = m
                @key k dj:{a}#k#{m}
                @returns {}
                @cost O(1)
                """))
        let descriptor = try #require(all.command(named: "c"))
        let builder = CommandCallBuilder(
            CommandSettings(
                keys: Keys(prefix: []), policies: [:], outbox: OutboxRoom(laneMax: 1, payerMax: 1), doneSeconds: 1,
                membersMax: 1, callsMax: 1,
                answerLimits: JSON.Limits(depthMax: 1, elementsMax: 1), answerBytesMax: 1, nowMs: { 0 }))
        let stamp = CommandCallBuilder.CallStamp(nowMs: 0, run: [], epoch: [], random: [])
        let source = bytes(
            "{\"a\":\"x1\",\"b\":\"é\",\"c\":-2,\"d\":1.5,\"e\":[1,\"b\"],\"f\":{\"q\":[1]},"
                + "\"g\":\"2026-11-21T10:20:05Z\",\"h\":true,\"m\":\"n\",\"id\":\"o\"}")
        var random = Seeded(seed)
        var (bound, refused) = (0, 0)
        for round in 0..<Histories.count(10_000, atLeast: 2_000) {
            let body = MutationTests.mutated(source, &random)
            guard let parsed = try? JSON(parsing: body, limits: JSON.Limits(depthMax: 32, elementsMax: 500)) else {
                continue
            }
            do throws(Refusal) {
                let arguments = try ArgumentBinder.bind(descriptor, body: parsed.root, caller: service)
                bound += 1
                let operation = arguments.operation.map { OperationID.named($0) }
                let call = builder.call(
                    descriptor, arguments, caller: service, operation: operation, fence: nil, stamp)
                guard let call else { throw Refusal(.internalError, "seed \(seed) round \(round)") }
                #expect(call.keys.count == 3 && call.arguments.count == 12 + 9)
                let fits = arguments.values[0].map { Topic.isID($0) } == true
                let small =
                    arguments.values[2].flatMap { ASCII.signedDecimal($0) }.map { (-5...5).contains($0) } == true
                #expect(fits && small, "seed \(seed) round \(round)")
            } catch {
                #expect(error.code == .badRequest, "seed \(seed) round \(round): \(error.message)")
                #expect(!PrintableText.hasControl(error.message), "seed \(seed) round \(round)")
                refused += 1
            }
        }
        #expect(bound > 0 && refused > 0)
    }
}
