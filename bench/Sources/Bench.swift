import Core
import Glibc
import Reactors
import Transport

/// The load tool: opens real TLS WebSockets to a running gateway and measures the gateway's process from `/proc`.
///
/// `idle` opens connections, lets them lie, and tells memory and CPU; `churn` opens and closes them again and again
/// and compares descriptors and memory with the beginning; `fanout` publishes to many and measures the deliveries; `vote`
/// lets many users vote and measures their acknowledgements; `crowd` records what many subscribers are sent
/// (`switchboard-bench crowd --help`).
@main
struct Bench {
    static func main() {
        do throws(BenchFailure) {
            _ = signal(SIGPIPE, SIG_IGN)
            if CommandLine.arguments.dropFirst().first == "crowd" {
                exit(try CrowdScenario(try CrowdOptions(Array(CommandLine.arguments.dropFirst(2)))).run() ? 0 : 1)
            }
            let rest = Array(CommandLine.arguments.dropFirst(2))
            if CommandLine.arguments.dropFirst().first == "report" { exit(try ReportCommand.run(rest) ? 0 : 1) }
            if CommandLine.arguments.dropFirst().first == "compare" { exit(try CompareCommand.run(rest) ? 0 : 1) }
            let options = try BenchOptions(Array(CommandLine.arguments.dropFirst()))
            let passed =
                switch options.scenario {
                case .idle: try IdleScenario(options).run()
                case .churn: try ChurnScenario(options).run()
                case .fanout: try FanoutScenario(options).run()
                case .vote: try VoteScenario(options).run()
                }
            exit(passed ? 0 : 1)
        } catch {
            BenchFailure.say("switchboard-bench: \(error.description)")
        }
        exit(2)
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

/// What the command line asks for.
struct BenchOptions {
    enum Scenario: String, CaseIterable {
        case idle
        case churn
        case fanout
        case vote
    }

    var scenario: Scenario
    var port: UInt16 = 0
    var pid: Int32 = 0
    var connections = 1_000
    var seconds = 10
    var rounds = 10
    var topic = "shop:bench"
    var rate = 20
    var apiKey = ""
    /// The file with the gateway's HS256 secret, for scenarios whose clients are users.
    var secretFile = ""
    /// Requests one client has under way.
    var window = 1

    static let usage = """
        usage: switchboard-bench idle|churn|fanout|vote --port N --pid N [--connections N] [--seconds N] [--rounds N]
                                 [--rate N] [--window N] [--topic T] [--api-key KEY] [--secret-file FILE]
               switchboard-bench crowd --help
        """

    init(_ arguments: [String]) throws(BenchFailure) {
        guard let name = arguments.first, let scenario = Scenario(rawValue: name) else {
            throw BenchFailure(BenchOptions.usage)
        }
        self.scenario = scenario
        var rest = arguments.dropFirst()
        while let flag = rest.popFirst() {
            guard let value = rest.popFirst() else { throw BenchFailure("\(flag) needs a value") }
            if flag == "--topic" {
                guard Topic(value) != nil else { throw BenchFailure("--topic must be namespace:id") }
                topic = value
                continue
            }
            if flag == "--api-key" {
                apiKey = value
                continue
            }
            if flag == "--secret-file" {
                secretFile = value
                continue
            }
            guard let number = ASCII.decimal(Array(value.utf8)), number > 0, number <= 1_000_000 else {
                throw BenchFailure("\(flag) must be 1 to 1000000")
            }
            switch flag {
            case "--port":
                guard let read = UInt16(exactly: number) else { throw BenchFailure("--port must be a port") }
                port = read
            case "--pid": pid = Int32(number)
            case "--connections": connections = number
            case "--seconds": seconds = number
            case "--rounds": rounds = number
            case "--rate": rate = number
            case "--window": window = number
            default: throw BenchFailure("unknown flag \(flag)\n" + BenchOptions.usage)
            }
        }
        guard port > 0, pid > 0 else { throw BenchFailure("--port and --pid are needed\n" + BenchOptions.usage) }
    }
}
