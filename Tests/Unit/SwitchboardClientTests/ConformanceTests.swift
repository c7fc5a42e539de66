import Foundation
import TestSupport
import Testing

@testable import SwitchboardClient

/// The cases that the clients of every language play (clients/conformance).
struct ConformanceTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let file: String
        let name: String
        let value: JSONValue
        var testDescription: String { "\(file): \(name)" }
    }

    private static let folder = URL(filePath: ProjectFiles.folder + "/clients/conformance")

    private static func read(_ file: String) -> JSONValue {
        (try? String(contentsOf: folder.appending(path: file), encoding: .utf8)).flatMap { JSONReader.read($0) }
            ?? .null
    }

    static let cases: [Case] = {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return files.filter { $0.hasSuffix(".json") && $0 != "preludes.json" }.sorted().flatMap { file in
            (read(file)["cases"]?.array ?? []).map { Case(file: file, name: $0["name"]?.string ?? "", value: $0) }
        }
    }()

    private static let preludes = read("preludes.json")

    @Test("the table is there")
    func isThere() { #expect(ConformanceTests.cases.count > 10) }

    @Test("a case of the table", arguments: cases)
    func plays(_ one: Case) throws {
        let player = ConformancePlayer(given: one.value["given"] ?? [:], preludes: ConformanceTests.preludes)
        try player.play(one.value["steps"]?.array ?? [])
        #expect(player.done.isEmpty, "left over: \(player.done)")
    }
}
