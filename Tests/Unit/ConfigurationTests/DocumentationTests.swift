import Core
import FoundationEssentials
import TestSupport
import Testing

@testable import Configuration

/// The documentation says what the code does.
@Suite struct DocumentationTests {
    private func document(_ name: String) throws -> [String] {
        try ProjectFiles.text("docs/" + name).split(separator: "\n").map { String($0) }
    }

    @Test func everySettingHasItsRow() throws {
        let lines = try Set(document("configuration.md"))
        for setting in Setting.all { #expect(lines.contains(setting.documentationRow)) }
        let rows = lines.filter { $0.hasPrefix("| `--") || $0.hasPrefix("| `\"") }
        #expect(rows.count == Setting.all.count, "a row of a setting that does not exist")
    }

    @Test func everyDefaultNamespaceHasItsRow() throws {
        let lines = try Set(document("namespaces.md"))
        for (name, policy) in StandardTables.namespaces {
            let row =
                "| \(name) | \(policy.subscribe.rawValue) | \(policy.publish.rawValue) | \(policy.logEventsMax)"
                + " | \(policy.logSeconds) | \(policy.slow.rawValue) |"
                + (policy.logBytesMax.map { " \($0) |" } ?? " |")
            #expect(lines.contains(row), "\(row)")
        }
    }

    @Test func everyLimitIsListedWithItsDefaultAndRange() throws {
        let lines = try ["limits.md", "limits-load.md", "limits-processes.md"].flatMap { try document($0) }
        let defaults = Limits()
        for entry in Limits.table {
            let start = "| `\(entry.name)` | `\(defaults[keyPath: entry.path])` | "
            let range = " | \(entry.range.lowerBound) to \(entry.range.upperBound) | "
            #expect(lines.contains { $0.hasPrefix(start) && $0.contains(range) }, "\(start)...\(range)")
        }
        #expect(lines.count { $0.hasPrefix("| `") } == Limits.table.count)
    }

    @Test func theConfigFileOfTheDocumentationIsValid() throws {
        let lines = try document("settings.md")
        let start = try #require(lines.firstIndex(of: "```json"))
        let end = try #require(lines[start...].firstIndex(of: "```"))
        let result = read("gateway", file: lines[(start + 1)..<end].joined(separator: "\n"))
        #expect(gateway(result) != nil, "\(problems(result))")
    }

    @Test func theTableIsSound() {
        #expect(Set(Setting.all.map(\.name)).count == Setting.all.count)
        for setting in Setting.all {
            #expect(Setting.all.filter { $0.environmentName == setting.environmentName }.count == 1)
            #expect(!setting.commands.isEmpty && setting.help.hasSuffix("."))
        }
    }

    /// Each default that help shows is the default in code.
    @Test func defaultsAreWhatHelpSays() throws {
        let settings = try #require(gateway(read(plain)))
        for setting in Setting.of(.gateway) where !setting.defaultText.isEmpty && setting.places != .file {
            let written = setting.kind == .boolean ? "=" + setting.defaultText : " " + setting.defaultText
            var explicit = try #require(gateway(read(plain + " " + setting.flag + written)), "\(setting.name)")
            explicit.report = settings.report
            #expect(explicit == settings, "\(setting.name)")
        }
    }

    @Test func theReportSaysWhereEachValueWasSet() throws {
        let env = ["SWITCHBOARD_SHARDS": "2"]
        let file = #"{"log": "json", "limits": {"pingMs": 7}, "namespaces": {"shop": null}}"#
        let report = try #require(gateway(read("check --listen-plain 127.0.0.1:0", env: env, file: file))).report
        func line(_ name: String) -> SettingsReport.Line? { report.lines.first { $0.name == name } }
        #expect(line("listen-plain")?.source == .flag("listen-plain"))
        #expect(line("shards")?.source == .environment("SWITCHBOARD_SHARDS"))
        #expect(line("log")?.source == .file(path: "c.json", key: "log"))
        #expect(line("limits.pingMs")?.value == "7")
        #expect(line("limits.pingMs")?.source == .file(path: "c.json", key: "limits.pingMs"))
        #expect(line("namespaces.shop")?.value == "removed")
        #expect(line("redis")?.source == .defaults)
        #expect(report.description.hasSuffix(")\n"))
        for setting in Setting.of(.check) where setting.kind != .limit && setting.places != .file {
            #expect(line(setting.name) != nil, "\(setting.name)")
        }
    }
}
