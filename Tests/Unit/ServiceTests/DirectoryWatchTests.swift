import Foundation
import Testing

@testable import Service

/// The changes of scripts that `switchboard dev` notices.
@Suite struct DirectoryWatchTests {
    @Test func changesAreToldOnceByTheirKind() throws {
        let directory = FileManager.default.temporaryDirectory.path + "/watch-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        func write(_ name: String, _ text: String) throws {
            let url = URL(filePath: directory + "/" + name)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: url)
        }
        try write("a.lua", "1")
        try write("b.lua", "1")
        try write("folder/c.lua", "1")
        try write(".git/d.lua", "1")
        var watch = DirectoryWatch(directory)
        #expect(watch.look().isEmpty)

        try write("a.lua", "other")
        try write("pack.json", "{}")
        try write("notes.txt", "no script")
        try write(".git/d.lua", "other")
        try write("folder/c.lua", "other")
        try FileManager.default.removeItem(atPath: directory + "/b.lua")
        let changes = watch.look()
        #expect(changes.changed == [directory + "/a.lua", directory + "/folder/c.lua"])
        #expect(changes.added == [directory + "/pack.json"] && changes.removed == [directory + "/b.lua"])
        #expect(changes.text.hasPrefix("changed \(directory)/a.lua, changed ") && changes.text.contains(", gone "))
        #expect(watch.look().isEmpty)

        try FileManager.default.removeItem(atPath: directory)
        #expect(watch.look().removed.count == 3 && watch.look().isEmpty)
    }
}
