import Configuration
import Core
import Glibc
import Service
import Worker

/// `switchboard worker`: one worker, until a signal ends it.
enum WorkerCommand {
    /// Runs until SIGTERM or SIGINT; 0 after it gave its leases back, 1 when it could not run.
    static func run(_ settings: WorkerSettings) throws(StartProblem) -> Int32 {
        try ProcessSetUp.run()
        let log = try Log.make(settings.log, settings.logLevel, linesMax: settings.limits.logLinesMax)
        defer { log.close() }
        let worker = try WorkerNode(settings, log: log)
        defer { worker.stop() }
        var isAnnounced = false
        while !worker.hasEnded {
            let signal = Signals.wait(timeoutMs: isAnnounced ? 1_000 : 50)
            if !isAnnounced && worker.isReady {
                isAnnounced = true
                try writeReadyFile(settings.readyFile, worker.operations)
                Supervisor.ready()
            }
            switch signal {
            // There is nothing to read again.
            case nil, SIGHUP: continue
            default:
                Supervisor.stopping()
                return 0
            }
        }
        return 1
    }

    private static func writeReadyFile(_ path: String?, _ operations: HostPort?) throws(StartProblem) {
        guard let path else { return }
        do {
            let ops = operations.map { ",\"ops\":[{\"host\":\"\($0.host)\",\"port\":\($0.port)}]" } ?? ""
            try Files.write(Array("{\"pid\":\(getpid())\(ops)}\n".utf8), to: path, isSecret: false)
        } catch {
            throw StartProblem.file(path, error)
        }
    }
}
