import Core
import Glibc
import Reactors
import Transport

/// The load tool: opens real TLS WebSockets to a running server, publishes, and measures what comes and what it costs.
///
/// A coordinator (``Coordinator``) starts client processes and a publisher, which are this program again
/// (``Agent``), lets a scenario command them, and merges what they measure. `crowd` stands apart: it records what many
/// subscribers are sent (`switchboard-bench crowd --help`). `report` and `compare` read what runs left behind.
@main
struct Bench {
    static func main() {
        do throws(BenchFailure) {
            _ = signal(SIGPIPE, SIG_IGN)
            let arguments = Array(CommandLine.arguments.dropFirst())
            switch arguments.first {
            case "crowd": exit(try CrowdScenario(try CrowdOptions(Array(arguments.dropFirst()))).run() ? 0 : 1)
            case "agent":
                try Agent().run()
                exit(0)
            case "report": exit(try ReportCommand.run(Array(arguments.dropFirst())) ? 0 : 1)
            case "compare": exit(try CompareCommand.run(Array(arguments.dropFirst())) ? 0 : 1)
            default: exit(try run(try BenchOptions(arguments)) ? 0 : 1)
            }
        } catch {
            BenchFailure.say("switchboard-bench: \(error.description)")
        }
        exit(2)
    }

    private static func run(_ options: BenchOptions) throws(BenchFailure) -> Bool {
        let startedAt = MachineFacts.currentTime()
        let coordinator = try Coordinator(options)
        let result = try options.scenario.make(options).run(coordinator)
        print(ResultTable([result]).text(.of(STDOUT_FILENO)), terminator: "")
        let (machine, commit) = (MachineFacts.current(), MachineFacts.currentCommit())
        if !options.json.isEmpty {
            try ReportFile(options.json).append(result, machine: machine, commit: commit, startedAt: startedAt)
        }
        if !options.html.isEmpty {
            let report = BenchReport(machine: machine, commit: commit, startedAt: startedAt, runs: [result])
            try ReportFile(options.html).replace(with: try HTMLReport(reports: [report]).html())
        }
        return result.passed
    }
}

/// Why a run could not be made.
struct BenchFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }

    /// Prints a line to standard error.
    static func say(_ text: String) {
        let bytes = Array((text + "\n").utf8)
        _ = unsafe write(STDERR_FILENO, bytes, bytes.count)
    }
}
