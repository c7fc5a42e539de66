import FoundationEssentials
import Service
import Testing

@testable import Commands

/// A directory of scripts may have folders, as built-in packs have.
@Suite struct ScriptFoldersTests {
    /// Reads a directory `mine` with files by their paths in it; each is a command of its file's name.
    private func library(_ paths: [String]) throws -> (library: ScriptLibrary?, problem: String) {
        let top = FileManager.default.temporaryDirectory.appending(path: "scripts-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: top) }
        let mine = top.appending(path: "mine")
        for path in paths {
            let file = mine.appending(path: path)
            let name = file.lastPathComponent.split(separator: ".").first.map { String($0) } ?? ""
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(command(name).bytes).write(to: file)
        }
        do throws(StartProblem) {
            return (
                try ScriptLibrary(packs: [], directory: mine.path, namespaces: everyNamespace, reservedPaths: []), ""
            )
        } catch {
            return (nil, "\(error)")
        }
    }

    @Test func scriptsLieInTheDirectoryAndInFoldersOfIt() throws {
        let (found, problem) = try library([
            "lend.lua", "rooms/enter.lua", "rooms/notes.txt", "rooms/deep/hidden.lua", ".git/stored.lua", "readme.md",
        ])
        let library = try #require(found, "\(problem)")
        #expect(library.catalogue.commands.map(\.name) == ["enter", "lend"])
        let enter = try #require(library.catalogue.command(named: "enter"))
        #expect(enter.file.path.hasSuffix("/mine/rooms/enter.lua"))
        #expect(library.catalogue.commands.map(\.exportName) == ["mine", "mine"], "a folder is no pack")
    }

    @Test func aNameStandsOnceInAllFolders() throws {
        let (_, problem) = try library(["chairs/lend.lua", "rooms/lend.lua"])
        #expect(problem.contains("/mine/rooms/lend.lua:1: @command: lend is defined in "))
        #expect(problem.contains("/mine/chairs/lend.lua"))
    }
}
