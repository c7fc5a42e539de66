import Configuration
import Core
import Glibc
import Reactors

/// The watch of a process over its own loops: it tells systemd that they turn, and ends the process when one is stuck.
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
    /// How long to wait between two looks at most, milliseconds: a third of what systemd allows, and a second at most.
    public let lookMs: Int

    /// Watches so many loops; `exitMs` is ``Limits/stuckExitMs``.
    public init(loops: Int, exitMs: Int, stalls: ProcessStalls, log: Log) {
        watch = LoopWatch(count: loops, exitMs: exitMs)
        (self.stalls, self.log) = (stalls, log)
        lookMs = min(max((Supervisor.watchdogMs ?? 3_000) / 3, 10), 1_000)
    }

    /// Looks at how often each loop has turned; does not return when one is stuck.
    ///
    /// Ending by SIGABRT leaves no connection behind: clients come back elsewhere at once, and a supervisor starts anew.
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
