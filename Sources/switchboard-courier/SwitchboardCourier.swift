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
        exit(result.exitCode(run))
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

    private static func run(_ command: Command) throws(StartProblem) -> Int32 {
        guard case .courier(let settings) = command else { return 64 }
        return try settings.checksOnly ? check(settings) : serve(settings)
    }

    /// 0 when a courier of these settings would start and reach Redis.
    private static func check(_ settings: CourierSettings) throws(StartProblem) -> Int32 {
        Terminal.print(settings.report.description)
        let log = try Log.make(settings.log, .error, linesMax: settings.limits.logLinesMax)
        defer { log.close() }
        let node = try CourierNode.start(settings, log: log)
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
        log.started(.courier)
        let node = try CourierNode.start(settings, log: log)
        defer { node.stop() }
        return try NodeLife.run(
            node, readyFile: settings.readyFile, stuckExitMs: settings.limits.stuckExitMs, log: log)
    }
}
