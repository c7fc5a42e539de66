import Core
import Glibc
import Reactors
import Transport

/// The load tool: opens real TLS WebSockets to a running server, publishes, and measures what comes and what it costs.
///
/// A coordinator (``Coordinator``) starts client processes and a publisher, which are this program again
/// (``Agent``), lets a scenario command them, and merges what they measure. `crowd` stands apart: it records what many
/// subscribers are sent (`switchboard-bench crowd --help`).
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
            default: exit(try run(try BenchOptions(arguments)) ? 0 : 1)
            }
        } catch {
            BenchFailure.say("switchboard-bench: \(error.description)")
        }
        exit(2)
    }

    private static func run(_ options: BenchOptions) throws(BenchFailure) -> Bool {
        let coordinator = try Coordinator(options)
        let result = try options.scenario.make(options).run(coordinator)
        print(PlainResult.text(result))
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
