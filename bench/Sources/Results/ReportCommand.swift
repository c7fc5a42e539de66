import Core
import Glibc

/// `report FILE... [--html OUT]`: prints the table of all runs of the files, and writes a page of them.
struct ReportCommand {
    private(set) var paths: [String] = []
    private(set) var html: String?

    static let usage = "usage: switchboard-bench report FILE... [--html OUT]"

    init(_ arguments: [String]) throws(BenchFailure) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("--") else {
                paths.append(argument)
                continue
            }
            guard argument == "--html", let out = rest.popFirst() else { throw BenchFailure(ReportCommand.usage) }
            html = out
        }
        guard !paths.isEmpty else { throw BenchFailure(ReportCommand.usage) }
    }

    static func run(_ arguments: [String]) throws(BenchFailure) -> Bool {
        let command = try ReportCommand(arguments)
        var reports: [BenchReport] = []
        for path in command.paths { reports.append(try ReportFile(path).read()) }
        print(ResultTable(reports.flatMap(\.runs)).text(.of(STDOUT_FILENO)), terminator: "")
        if let out = command.html {
            try HTMLReport(reports: reports).write(to: out)
            print("report: \(out)")
        }
        return true
    }
}
