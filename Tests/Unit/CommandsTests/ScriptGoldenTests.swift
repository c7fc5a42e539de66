import Foundation
import RedisLink
import Rights
import TestSupport
import Testing

@testable import Commands

/// The scripts that Redis runs, token by token, against `Tests/Golden/scripts.txt`.
///
/// A move of code between files of `lua/` must change nothing here; any other change of a script changes the lines of the
/// scripts that it reaches. `GOLDEN=write` writes the file anew.
@Suite struct ScriptGoldenTests {
    private static let file = URL(filePath: ProjectFiles.folder + "/Tests/Golden/scripts.txt")

    private static func lines(_ layout: String, isSharded: Bool) throws -> [String] {
        let library = try ScriptLibrary(
            packs: ScriptLibrary.packs.keys.sorted(), directory: nil, namespaces: everyNamespace, reservedPaths: [],
            isSharded: isSharded)
        return library.table.registry.scripts.map { script in
            let tokens = LuaScanner.tokens(script.source).map { "\($0.kind) \($0.text)" }
            let print = Digest.sha256(tokens.joined(separator: "\n").utf8).prefix(8)
            let digits = print.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            return "\(layout) \(script.name) \(tokens.count) \(digits)"
        }
    }

    @Test func everyScriptIsMadeOfTheSameTokens() throws {
        let now =
            try ScriptGoldenTests.lines("plain", isSharded: false)
            + ScriptGoldenTests.lines("cluster", isSharded: true)
        if ProcessInfo.processInfo.environment["GOLDEN"] == "write" {
            try Data((now.joined(separator: "\n") + "\n").utf8).write(to: ScriptGoldenTests.file)
        }
        let golden = try String(contentsOf: ScriptGoldenTests.file, encoding: .utf8).split(separator: "\n").map(
            String.init)
        let (added, gone) = (Set(now).subtracting(golden), Set(golden).subtracting(now))
        #expect(added.isEmpty && gone.isEmpty, "GOLDEN=write writes \(added.sorted()) in place of \(gone.sorted())")
    }

    /// The tests that call scripts without a gateway hide the same names from them.
    @Test func theNamesHiddenFromScriptsAreThoseOfTheFixture() throws {
        let fixture = "Tests/Fixtures/vectors/hidden_names.txt"
        let now = GeneratedLua.hidden + "\n" + GeneratedLua.hiddenFromJoins + "\n"
        if ProcessInfo.processInfo.environment["GOLDEN"] == "write" {
            try Data(now.utf8).write(to: URL(filePath: ProjectFiles.folder + "/" + fixture))
        }
        #expect(try ProjectFiles.text(fixture) == now, "GOLDEN=write writes \(fixture) anew")
    }
}
