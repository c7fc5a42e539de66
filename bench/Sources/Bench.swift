import Core
import Glibc
import Reactors

/// The load tool: opens real TLS WebSockets to a running server, publishes, and measures deliveries and their cost.
///
/// A coordinator (``Coordinator``) starts client processes and a publisher, which are this program again (``Agent``),
/// lets a scenario command them, and merges their measurements. `crowd` is separate: it records everything that many
/// subscribers are sent (`switchboard-bench crowd --help`). `report` and `compare` read the results of runs.
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
            default: exit(try run(try BenchOptions(arguments)))
            }
        } catch {
            BenchFailure.say("switchboard-bench: \(error.description)")
        }
        exit(2)
    }

    private static func run(_ options: BenchOptions) throws(BenchFailure) -> Int32 {
        let output = try RunOutput(json: options.json, html: options.html)
        let before = StolenTime()
        let coordinator = try Coordinator(options)
        var result = try options.scenario.make(options).run(coordinator)
        let stolen = StolenTime().percent(since: before)
        result.stolenPercent = (stolen * 10).rounded() / 10
        if options.stolenMax < 100, stolen > Double(options.stolenMax) {
            BenchFailure.say("the hypervisor kept \(Int(stolen)) % of the CPU time asked for: not kept")
            return Bench.disturbed
        }
        if let refusals = result.refusals {
            if options.refusals == .discard {
                BenchFailure.say("\(refusals): not kept")
                return Bench.disturbed
            }
            result.notes.append("\(refusals): the figures do not count")
        }
        if stolen > Bench.stolenTold {
            result.notes.append("the hypervisor kept \(Int(stolen)) % of the CPU time that this machine asked for")
        }
        try output.keep(result)
        return result.passed ? 0 : result.refusals == nil ? 1 : Bench.refused
    }

    /// The exit status of a run that exceeded `--stolen-max`, or had refusals with `--refusals discard`.
    private static let disturbed: Int32 = 3
    /// The exit status of a run that was kept and has refusals.
    private static let refused: Int32 = 4
    /// Percent of stolen time from which on the report mentions it.
    private static let stolenTold = 3.0
}

/// The reason for which a run was impossible.
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
