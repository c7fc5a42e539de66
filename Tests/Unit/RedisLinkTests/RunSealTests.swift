import Core
import Testing

@testable import RedisLink

/// The questions of a link about a run of Redis, and its testimony to the next one.
@Suite struct RunSealTests {
    static let first = String(repeating: "a", count: 40)
    static let second = String(repeating: "b", count: 40)

    private func facts(_ run: String, sync: String = "always", onRewrite: String = "no") throws -> ServerFacts {
        let info = "run_id:\(run)\r\nredis_version:7.0.15\r\nrole:master\r\naof_enabled:1\r\nuptime_in_seconds:7"
        var facts = try #require(ServerFacts(info: bytes(info)))
        facts.apply(config: [bytes("appendfsync"): bytes(sync), bytes("no-appendfsync-on-rewrite"): bytes(onRewrite)])
        return facts
    }

    private func seal() throws -> RunSeal {
        var target = RedisTarget(url: try RedisURL(parsing: "redis://127.0.0.1:1"), tls: nil, limits: Limits())
        target.seal = RunSealSettings(Keys(prefix: []), Limits())
        let registry = try ScriptRegistry(scripts: [("seal", bytes("x"))]) { _ in Array(repeating: 1, count: 20) }
        return try #require(RunSeal(target, registry))
    }

    private func words(_ seal: RunSeal, _ facts: ServerFacts, nowMs: Int = 0) throws -> [String] {
        try #require(seal.question(facts, nowMs: nowMs)).arguments.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func theFenceHasThePlusOnceRedisHasSealedTheRun() throws {
        var seal = try seal()
        let facts = try facts(RunSealTests.first)
        #expect(seal.look(facts) == nil && seal.fence(facts) == bytes(RunSealTests.first))
        #expect(try words(seal, facts) == [RunSealTests.first, "1", "7", "120000", "10000", "-"])
        #expect(seal.took(.string(bytes("+g1")), facts) == nil)
        #expect(seal.fence(facts) == bytes(RunSealTests.first + "+g1"))
        #expect(seal.took(.error(bytes("OOM")), facts) == nil)
        #expect(seal.fence(facts) == bytes(RunSealTests.first + "+g1"), "a probe that fails proves nothing")
    }

    @Test func aLinkTestifiesThatItSawTheRunThroughAndWhatItKnowsOfIt() throws {
        var seal = try seal()
        _ = seal.took(.string(bytes("+")), try facts(RunSealTests.first))
        seal.disconnected(LinkWitness(meta: bytes("m"), epoch: bytes("k"), offset: 7, atMs: 0))
        seal.disconnected(nil)
        let next = try facts(RunSealTests.second)
        #expect(try words(seal, next).suffix(3) == [RunSealTests.first, "k", "7"])
        #expect(seal.question(next, nowMs: 0)?.keys.count == 2)
        #expect(try words(seal, next, nowMs: 3_600_000).last == RunSealTests.first, "its key may be gone by now")
        #expect(seal.took(.string(bytes("+" + String(repeating: "b", count: 16))), next) == .doubted)
    }

    @Test(arguments: [("everysec", "no"), ("always", "yes")])
    func aLossIsToldOnceAndDoubtedInTheNextRun(_ sync: String, _ onRewrite: String) throws {
        var seal = try seal()
        _ = seal.took(.string(bytes("+")), try facts(RunSealTests.first))
        let weak = try facts(RunSealTests.first, sync: sync, onRewrite: onRewrite)
        #expect(!weak.syncsEveryWrite)
        #expect(seal.look(weak) == .lost)
        #expect(seal.look(weak) == nil)
        #expect(seal.fence(weak) == bytes(RunSealTests.first))
        #expect(try words(seal, weak)[1] == "0")
        _ = seal.took(.string(bytes("-")), weak)
        #expect(seal.question(try facts(RunSealTests.first), nowMs: 0) == nil, "it does not get it back")
        #expect(try words(seal, try facts(RunSealTests.second)).last == "doubt")
    }

    @Test func aRunThatNeverHadItIsAskedAboutOnce() throws {
        var seal = try seal()
        let weak = try facts(RunSealTests.first, sync: "everysec")
        _ = seal.took(.string(bytes("?")), weak)
        #expect(seal.question(weak, nowMs: 0) == nil)
        let later = try facts(RunSealTests.first)
        #expect(seal.look(later) == nil)
        #expect(try words(seal, later).last == "doubt", "what was written before may not be in the file")
    }
}
