import Commands
public import Configuration
import Reactors
public import Service

/// A worker on a thread of its own.
public enum WorkerNode {
    /// Reads every file and starts the thread; Redis may become available later.
    ///
    /// It is ready once it has leases and subscriptions.
    ///
    /// Stopping returns the leases and waits at most as long as one command may take.
    public static func start(_ settings: WorkerSettings, log: Log) throws(StartProblem) -> NodeThread {
        let parts = try WorkerParts(settings, log: log)
        for script in parts.library.catalogue.disabled {
            log.write(.info, "a script is left out", [("script", script.name), ("reason", script.reason)])
        }
        return try NodeThread(
            "worker", operations: parts.operationsListener?.address, stalls: parts.stalls, log: log
        ) { reactor, onReady throws(Errno) in
            try Worker(parts, reactor: reactor, onReady: onReady)
        }
    }
}
