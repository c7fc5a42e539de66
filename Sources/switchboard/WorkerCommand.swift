import Configuration
import Core
import Service
import Worker

/// `switchboard worker`: one worker, until a signal ends it.
enum WorkerCommand {
    /// Runs until SIGTERM or SIGINT; 0 after it returned its leases, 1 when it could not run.
    static func run(_ settings: WorkerSettings) throws(StartProblem) -> Int32 {
        try ProcessSetUp.run()
        let log = try Log.make(settings.log, settings.logLevel, linesMax: settings.limits.logLinesMax)
        defer { log.close() }
        log.started(.worker)
        let worker = try WorkerNode.start(settings, log: log)
        defer { worker.stop() }
        return try NodeLife.run(
            worker, readyFile: settings.readyFile, stuckExitMs: settings.limits.stuckExitMs, log: log)
    }
}
