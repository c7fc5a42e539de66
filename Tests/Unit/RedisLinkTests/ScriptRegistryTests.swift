import RedisLink
import Testing

@Suite struct ScriptRegistryTests {
    /// Stands for SHA-1: twenty bytes that follow from the source.
    static func digest(_ source: [UInt8]) -> [UInt8] {
        let sum = source.reduce(UInt8(7)) { $0 &* 31 &+ $1 }
        return (0..<20).map { sum &+ UInt8($0) }
    }

    static func registry(_ names: String...) throws -> ScriptRegistry {
        try ScriptRegistry(scripts: names.map { ($0, bytes("return '" + $0 + "'")) }, sha1: digest)
    }

    @Test func aCallNamesItsScriptByDigestOrSource() throws {
        let registry = try ScriptRegistryTests.registry("publish", "vote")
        let vote = try #require(registry.script(named: "vote"))
        #expect(registry.script(named: "Vote") == nil)
        let call = ScriptCall(script: vote, keys: [bytes("k1"), bytes("k2")], arguments: [bytes("a")])
        let digest = registry.scripts[1].digest
        #expect(digest.count == 40)
        #expect(
            registry.encoded(call, .digest).arguments == [
                bytes("EVALSHA"), digest, bytes("2"), bytes("k1"), bytes("k2"), bytes("a"),
            ])
        #expect(
            registry.encoded(call, .source).arguments == [
                bytes("EVAL"), bytes("return 'vote'"), bytes("2"), bytes("k1"), bytes("k2"), bytes("a"),
            ])
        let bare = ScriptCall(script: vote, keys: [], arguments: [])
        #expect(registry.encoded(bare, .digest).arguments == [bytes("EVALSHA"), digest, bytes("0")])
    }

    @Test func digestsAreLowerCaseHexadecimal() throws {
        let registry = try ScriptRegistry(scripts: [("a", [])]) { _ in
            [0x00, 0x1f, 0xab] + [UInt8](repeating: 0xff, count: 17)
        }
        #expect(registry.scripts[0].digest == bytes("001fab" + String(repeating: "ff", count: 17)))
    }

    @Test func onlyWhatTheServerLacksIsLoaded() throws {
        let registry = try ScriptRegistryTests.registry("publish", "vote")
        #expect(
            registry.look?.arguments
                == [bytes("SCRIPT"), bytes("EXISTS"), registry.scripts[0].digest, registry.scripts[1].digest])
        #expect(registry.missing(.array([.integer(1), .integer(1)])) == [])
        #expect(registry.missing(.array([.integer(1), .integer(0)])) == [1])
        #expect(registry.missing(.array([.integer(7), .null])) == [0, 1])
    }

    @Test(arguments: [RESPValue.error(bytes("NOPERM")), .null, .integer(1), .array([.integer(1)])])
    func allAreLoadedWhereTheServerDoesNotSay(_ reply: RESPValue) throws {
        #expect(try ScriptRegistryTests.registry("publish", "vote").missing(reply) == [0, 1])
    }

    @Test func laterScriptsAreNeitherAskedForNorLoaded() throws {
        let sources = ["vote", "publish", "queue"].map { (name: $0, source: bytes("return '" + $0 + "'")) }
        let registry = try ScriptRegistry(
            scripts: sources, later: ["vote", "queue"], sha1: ScriptRegistryTests.digest)
        #expect(registry.look?.arguments == [bytes("SCRIPT"), bytes("EXISTS"), registry.scripts[1].digest])
        #expect(registry.missing(.array([.integer(0)])) == [1])
        #expect(registry.missing(.array([.integer(1)])) == [])
        #expect(registry.missing(.error(bytes("NOPERM"))) == [1])
        let rest = try ScriptRegistry(scripts: sources, later: ["vote", "publish", "queue"]) {
            ScriptRegistryTests.digest($0)
        }
        #expect(rest.look == nil && rest.missing(nil) == [])
        #expect(ScriptRegistry.none.look == nil)
    }

    @Test func aScriptThatWasLoadedHasItsDigest() throws {
        let registry = try ScriptRegistryTests.registry("publish", "vote")
        #expect(registry.load(1).arguments == [bytes("SCRIPT"), bytes("LOAD"), bytes("return 'vote'")])
        #expect(registry.confirmsLoad(1, .string(registry.scripts[1].digest)))
        #expect(!registry.confirmsLoad(0, .string(registry.scripts[1].digest)))
        #expect(!registry.confirmsLoad(0, .error(bytes("NOPERM"))))
        #expect(!registry.confirmsLoad(2, .string(registry.scripts[1].digest)))
        #expect(!registry.confirmsLoad(-1, .null))
    }

    @Test func aRegistryOfDoubtfulScriptsIsRefused() {
        #expect(throws: ScriptRegistry.RegistryError.duplicateName("a")) {
            try ScriptRegistry(scripts: [("a", []), ("a", [1])], sha1: ScriptRegistryTests.digest)
        }
        #expect(throws: ScriptRegistry.RegistryError.badDigest) {
            try ScriptRegistry(scripts: [("a", [])]) { _ in [1, 2, 3] }
        }
    }
}
