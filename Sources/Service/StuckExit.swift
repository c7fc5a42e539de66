import Configuration
import Core
import Glibc
import Reactors

/// Watches the loops of its own process: it reports to systemd that they turn, and ends the process when one is stuck.
///
/// It also logs and counts the times for which the whole process stood still.
///
/// Thread: main.
public struct StuckExit {
    private var watch: LoopWatch
    private var stallWatch = StallWatch()
    private let stalls: ProcessStalls
    private let log: Log
    private var nextAliveMs = 0
    /// The longest wait between two looks, milliseconds: a third of systemd's limit, and at most a second.
    public let lookMs: Int

    /// Watches `loops` loops; `exitMs` is ``Limits/stuckExitMs``.
    public init(loops: Int, exitMs: Int, stalls: ProcessStalls, log: Log) {
        watch = LoopWatch(count: loops, exitMs: exitMs)
        (self.stalls, self.log) = (stalls, log)
        lookMs = min(max((Supervisor.watchdogMs ?? 3_000) / 3, 10), 1_000)
    }

    /// Looks at the number of turns of each loop; does not return when one is stuck.
    ///
    /// Ending by SIGABRT closes every connection: clients reconnect elsewhere at once, and a supervisor restarts the
    /// process.
    public mutating func look(_ ticks: [Int], nowMs: Int) {
        if let stoodMs = stallWatch.look(nowMs: nowMs, expectedMs: lookMs) { stood(for: stoodMs) }
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

    private func stood(for milliseconds: Int) {
        stalls.count.add(1)
        stalls.standingMs.add(milliseconds)
        log.write(.warn, "the process stood still and goes on", [("standingMs", "\(milliseconds)")])
    }
}
