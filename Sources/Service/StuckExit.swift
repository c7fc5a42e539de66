import Configuration
import Core
import Glibc

/// The watch of a process over its own loops, which tells systemd that they turn and ends the process when one is stuck.
///
/// Thread: main.
public struct StuckExit {
    private var watch: LoopWatch
    private let log: Log
    private var nextAliveMs = 0
    /// How long to wait between two looks at most, milliseconds: a third of what systemd allows, and a second at most.
    public let lookMs: Int

    /// Watches so many loops; `exitMs` is ``Limits/stuckExitMs``.
    public init(loops: Int, exitMs: Int, log: Log) {
        watch = LoopWatch(count: loops, exitMs: exitMs)
        self.log = log
        lookMs = min(max((Supervisor.watchdogMs ?? 3_000) / 3, 10), 1_000)
    }

    /// Looks at how often each loop has turned; does not return when one is stuck.
    ///
    /// Ending by SIGABRT leaves no connection behind: clients come back elsewhere at once, and a supervisor starts anew.
    public mutating func look(_ ticks: [Int], nowMs: Int) {
        switch watch.look(ticks, nowMs: nowMs) {
        case .turning:
            guard nowMs >= nextAliveMs else { return }
            nextAliveMs = nowMs + lookMs
            Supervisor.alive()
        case .standing: break
        case .stuck(let loop, let standingMs):
            log.write(
                .error, "a loop is stuck, the process ends itself",
                [("loop", "\(loop)"), ("standingMs", "\(standingMs)")])
            log.close()
            abort()
        }
    }
}
