import FoundationEssentials
import Scripts
import TestSupport
import Testing

@testable import Commands

/// What lies in the folders of `lua/` is in the program.
@Suite struct EmbeddedFilesTests {
    /// The folder of all scripts and of the guide.
    static let folder = ProjectFiles.folder + "/lua"

    private func files(_ pack: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: "\(EmbeddedFilesTests.folder)/\(pack)").sorted()
    }

    private var packs: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: EmbeddedFilesTests.folder)
                .filter { !$0.contains(".") }.sorted()
        }
    }

    /// A script that was not in two lists of Swift code did not exist, and nothing said so.
    @Test func everyScriptIsEmbeddedByteForByte() throws {
        let embedded =
            Scripts.files + Scripts.constants + Scripts.commandPreludes
            + [
                Scripts.prelude, Scripts.outsidePrelude, Scripts.elsewherePrelude, Scripts.lookedPrelude,
                Scripts.quickPublish, Scripts.movedPrelude, Scripts.templates,
            ]
        var count = 0
        for pack in try packs {
            for file in try files(pack) where file.hasSuffix(".lua") {
                let path = "\(pack)/\(file)"
                let bytes = try Data(contentsOf: URL(filePath: "\(EmbeddedFilesTests.folder)/\(path)"))
                let isSame = embedded.first { $0.path == path }?.source == Array(bytes)
                #expect(isSame, "\(path)")
                count += 1
            }
        }
        #expect(count == embedded.count)
    }

    /// Tests and messages of other scripts name a file without its folder.
    @Test func aNameStandsOnceInAPack() throws {
        for pack in try packs {
            let names = try files(pack).filter { $0.hasSuffix(".lua") }.map { $0.split(separator: "/").last }
            #expect(Set(names).count == names.count, "\(pack)")
        }
    }

    @Test func everyPackSaysWhatItIs() throws {
        for pack in try packs {
            let bytes = try Data(contentsOf: URL(filePath: "\(EmbeddedFilesTests.folder)/\(pack)/pack.json"))
            #expect(Scripts.packs[pack] == Array(bytes), "\(pack)")
        }
        #expect(Scripts.packs["barbershop"] != nil)
    }
}
