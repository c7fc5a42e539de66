import Configuration
import Glibc
import Reactors

/// The life of a process with one node: it reports that it is ready, then waits for the signal that ends it.
///
/// Thread: main.
public enum NodeLife {
    /// Runs until SIGTERM or SIGINT; returns 0 then, and 1 when the node ended by itself.
    ///
    /// `readyFile` receives the process id and the address of operations. A loop that stands for `stuckExitMs` ends the
    /// process.
    public static func run(
        _ node: NodeThread, readyFile: String?, stuckExitMs: Int, log: Log
    ) throws(StartProblem) -> Int32 {
        var isAnnounced = false
        var watch = StuckExit(loops: 1, exitMs: stuckExitMs, stalls: node.stalls, log: log)
        while !node.hasEnded {
            let signal = Signals.wait(timeoutMs: isAnnounced ? watch.lookMs : 50)
            watch.look(node.turns(), nowMs: Clock.monotonicMs())
            if !isAnnounced && node.isReady {
                isAnnounced = true
                try write(readyFile, node.operations)
                Supervisor.ready()
            }
            switch signal {
            case nil: continue
            case SIGHUP: node.reload()
            default:
                Supervisor.stopping()
                return 0
            }
        }
        return 1
    }

    private static func write(_ path: String?, _ operations: HostPort?) throws(StartProblem) {
        guard let path else { return }
        let ops = operations.map { ",\"ops\":[{\"host\":\"\($0.host)\",\"port\":\($0.port)}]" } ?? ""
        try StartFile.write(Array("{\"pid\":\(getpid())\(ops)}\n".utf8), to: path, isSecret: false)
    }
}
