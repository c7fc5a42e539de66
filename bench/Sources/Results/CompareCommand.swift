import Core
import Glibc

/// `compare A.json B.json`: the figures that are better and worse in B than in A.
struct CompareCommand {
    let before: String
    let after: String
    /// Percent by which a figure may be worse.
    private(set) var tolerance = 10.0

    static let usage = "usage: switchboard-bench compare A.json B.json [--tolerance PERCENT]"

    init(_ arguments: [String]) throws(BenchFailure) {
        var paths: [String] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("--") else {
                paths.append(argument)
                continue
            }
            guard argument == "--tolerance" else {
                throw BenchFailure("unknown flag \(argument)\n" + CompareCommand.usage)
            }
            guard let text = rest.popFirst(), let percent = Double(text), percent >= 0, percent <= 1_000 else {
                throw BenchFailure("--tolerance must be 0 to 1000 percent")
            }
            tolerance = percent
        }
        guard paths.count == 2 else { throw BenchFailure(CompareCommand.usage) }
        (before, after) = (paths[0], paths[1])
    }

    /// Prints the table; true when nothing is worse beyond the tolerance or lost.
    static func run(_ arguments: [String]) throws(BenchFailure) -> Bool {
        let command = try CompareCommand(arguments)
        let old = try ReportFile(command.before).read()
        let new = try ReportFile(command.after).read()
        let (text, isGood) = try command.verdict(old, new, .of(STDOUT_FILENO))
        print(text)
        return isGood
    }

    /// The table, and whether it has no regression; fails when the reports have nothing in common.
    func verdict(
        _ old: BenchReport, _ new: BenchReport, _ style: TextStyle = .plain
    ) throws(BenchFailure) -> (text: String, isGood: Bool) {
        let (both, onlyOld, onlyNew) = RunComparison.match(old.runs, new.runs)
        guard !both.isEmpty else {
            throw BenchFailure("\(before) and \(after) have no run of the same scenario, target and settings")
        }
        var lines = ["A  " + head(before, old), "B  " + head(after, new)]
        if old.machine != new.machine {
            lines.append(style.bad("!  the machines differ: ratios tell of them too"))
        }
        for comparison in both { lines += ["", block(comparison, style)] }
        for (runs, file) in [(onlyOld, before), (onlyNew, after)] where !runs.isEmpty {
            lines += ["", style.bold("only in \(file), not compared:")]
            lines += runs.map { "  \(CompareCommand.title($0))" }
        }
        let worse = both.count { $0.isWorse(tolerance: tolerance) }
        let percent = Figure.fixed(tolerance, tolerance == tolerance.rounded() ? 0 : 2)
        let of = "\(both.count) \(both.count == 1 ? "run" : "runs")"
        lines += [
            "",
            worse == 0
                ? style.good("✓ nothing is worse by more than \(percent) % in \(of)")
                : style.bad("✗ \(worse) of \(of) worse by more than \(percent) %, or losing what was not lost before"),
        ]
        return (lines.joined(separator: "\n"), worse == 0)
    }

    private func head(_ path: String, _ report: BenchReport) -> String {
        let facts = [report.commit.map { "commit " + $0 }, report.startedAt, report.machine.processor].compactMap { $0 }
        return ResultTable.plain(([path] + facts).joined(separator: " · "), limit: 97)
    }

    private static func title(_ run: BenchResult) -> String {
        let group = RunGroup(scenario: run.scenario, load: run.load, runs: [])
        return [run.scenario, run.name].map { ResultTable.plain($0, limit: 40) }.joined(separator: "  ") + "  "
            + group.title
    }

    private func block(_ comparison: RunComparison, _ style: TextStyle) -> String {
        let figures = comparison.figures
        let name = max(figures.map { $0.name.count + $0.unit.count + 1 }.max() ?? 0, 12)
        func row(_ label: String, _ a: String, _ b: String, _ ratio: String) -> String {
            "  " + label + String(repeating: " ", count: max(name - label.count, 0))
                + [a, b, ratio].map { ResultTable.padded($0, to: 11) }.joined()
        }
        var lines = [style.bold(CompareCommand.title(comparison.after)), style.faint(row("", "A", "B", "B/A"))]
        for figure in figures {
            let ratio = figure.ratio.map { Figure.fixed($0, 2) + " ×" } ?? "-"
            let text = row(
                figure.name + " " + figure.unit, Figure.short(figure.before), Figure.short(figure.after), ratio)
            switch figure.verdict(tolerance: tolerance) {
            case .same: lines.append(text)
            case .better: lines.append(style.good(text + "  better"))
            case .worse: lines.append(style.bad(text + "  WORSE"))
            }
        }
        lines += comparison.regressions.map { style.bad("  ! " + $0) }
        return lines.joined(separator: "\n")
    }
}
