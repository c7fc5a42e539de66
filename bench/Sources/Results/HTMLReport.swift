import FoundationEssentials
import ReportPage

/// The report as one HTML file: style, script and results are inside, and nothing is fetched.
struct HTMLReport {
    let reports: [BenchReport]

    /// The input of the page's script: results grouped and merged here, so that all readers compare the same.
    private struct Content: Encodable {
        struct Source: Encodable {
            let machine: MachineFacts
            let commit: String?
            let startedAt: String
            let runs: Int
        }

        struct Group: Encodable {
            let scenario: String
            let title: String
            let load: [String: String]
            let runs: [Run]
        }

        struct Run: Encodable {
            let name: String
            let kind: String
            /// Whether it is the floor that the others are compared with.
            let isReference: Bool
            let cpuOverFloor: Double?
            /// The clients and publishes that were refused; the result has no other figures then.
            let refusals: String?
            let result: BenchResult
        }

        let sources: [Source]
        let groups: [Group]
    }

    /// Replaces the file by the page.
    func write(to path: String) throws(BenchFailure) {
        try ReportFile(path).replace(with: try html())
    }

    /// The file's bytes.
    func html() throws(BenchFailure) -> [UInt8] {
        let template = ReportPage.html
        // Each placeholder once and from the front, so that no text of the results is taken for one.
        var parts = template[...]
        var out = ""
        for (place, content) in [
            ("{{style}}", ReportPage.style), ("{{results}}", try results()), ("{{script}}", ReportPage.script),
        ] {
            guard let found = parts.firstRange(of: place) else { throw BenchFailure("the page has no place \(place)") }
            out += parts[..<found.lowerBound] + content
            parts = parts[found.upperBound...]
        }
        return Array((out + parts).utf8)
    }

    /// The results as JSON in which no HTML parser finds an end of its element, a comment or a script.
    private func results() throws(BenchFailure) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            let json = try encoder.encode(content())
            return String(decoding: json, as: UTF8.self).replacing("<", with: "\\u003c")
        } catch {
            throw BenchFailure("the report cannot be written as JSON: \(error)")
        }
    }

    private func content() -> Content {
        let sources = reports.map { report in
            Content.Source(
                machine: report.machine, commit: report.commit, startedAt: report.startedAt, runs: report.runs.count)
        }
        let groups = RunGroup.groups(reports.flatMap(HTMLReport.placed)).map { group in
            let floor = group.floor
            let runs = zip(group.runs, HTMLReport.names(group.runs)).map { run, name in
                Content.Run(
                    name: name, kind: run.kind, isReference: floor.map { $0.name == run.name } ?? false,
                    cpuOverFloor: run.cpuPerDelivery(over: floor), refusals: run.refusals, result: run)
            }
            return Content.Group(scenario: group.scenario, title: group.title, load: group.load, runs: runs)
        }
        return Content(sources: sources, groups: groups)
    }

    /// The runs, each with its commit and machine.
    private static func placed(_ report: BenchReport) -> [BenchResult] {
        report.runs.map { run in
            var placed = run
            placed.commit = run.commit ?? report.commit
            placed.machine = run.machine ?? report.machine
            return placed
        }
    }

    /// The targets' names, with version, commit and number where a name occurs twice.
    private static func names(_ runs: [BenchResult]) -> [String] {
        var names = runs.map(\.name)
        let additions: [(BenchResult) -> String] = [{ $0.targetVersion }, { $0.commit ?? "" }]
        for addition in additions {
            let before = names
            for (index, run) in runs.enumerated() where before.count(where: { $0 == before[index] }) > 1 {
                names[index] += addition(run).isEmpty ? "" : " " + addition(run)
            }
        }
        let before = names
        for index in names.indices where before[..<index].contains(before[index]) {
            names[index] += " #\(before[..<index].count { $0 == before[index] } + 1)"
        }
        return names
    }
}
