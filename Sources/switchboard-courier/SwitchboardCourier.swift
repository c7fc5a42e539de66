import Configuration
import Core
import Courier
import Glibc
import Service

/// The command line of `switchboard-courier`: reads settings, runs a courier until a signal ends it.
@main
struct SwitchboardCourier {
    static func main() {
        let result = Configuration.CommandLine.parse(
            arguments: arguments, environment: ProcessEnvironment.all,
            readFile: { try? Files.read($0, bytesMax: 1 << 20) })
        exit(run(result))
    }

    /// The words of `switchboard courier ...`, as which this program is described; `version` and `help` stand alone.
    private static var arguments: [String] {
        let own = ProcessEnvironment.arguments.dropFirst()
        switch own.first {
        case "version", "--version": return ["version"]
        case "courier": return Array(own)
        default: return ["courier"] + (own.first == "help" ? ["--help"] : Array(own))
        }
    }

    private static func run(_ result: CommandLineResult) -> Int32 {
        switch result {
        case .help(let text):
            Terminal.print(text)
            return 0
        case .version:
            Terminal.print("switchboard \(ProductVersion.text)")
            return 0
        case .problems(let problems):
            for problem in problems { Terminal.error(problem.description) }
            return 64
        case .run(.courier(let settings)):
            do {
                return try settings.checksOnly ? check(settings) : serve(settings)
            } catch {
                Terminal.error(error.description)
                return 1
            }
        case .run: return 64
        }
    }

    /// 0 when a courier of these settings would start and reach Redis.
    private static func check(_ settings: CourierSettings) throws(StartProblem) -> Int32 {
        Terminal.print(settings.report.description)
        let log = try Log.make(settings.log, .error, linesMax: settings.limits.logLinesMax)
        defer { log.close() }
        let node = try CourierNode(settings, log: log)
        defer { node.stop() }
        for _ in 0..<50 where !node.isReady && !node.hasEnded { _ = Signals.wait(timeoutMs: 100) }
        Terminal.print(node.isReady ? "ok: files, secrets and Redis" : "error: Redis does not answer within 5 s")
        return node.isReady ? 0 : 1
    }

    /// Runs until SIGTERM or SIGINT; 0 after what was in hand is done, 1 when it could not run.
    private static func serve(_ settings: CourierSettings) throws(StartProblem) -> Int32 {
        try ProcessSetUp.run()
        let log = try Log.make(settings.log, settings.logLevel, linesMax: settings.limits.logLinesMax)
        defer { log.close() }
        let node = try CourierNode(settings, log: log)
        defer { node.stop() }
        return try NodeLife.run(
            isReady: { node.isReady }, hasEnded: { node.hasEnded }, readyFile: settings.readyFile,
            operations: node.operations)
    }
}
