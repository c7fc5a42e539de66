/// Watches whether the loops of a process turn, and whether one has been standing for too long.
///
/// It counts the time for which it has seen a loop standing, not the clock's time. While a process is stopped or its
/// machine sleeps, this watch does not run either, so that after SIGCONT no loop is blamed. Pure: time is a parameter.
public struct LoopWatch {
    /// The result of one look.
    public enum Verdict: Equatable, Sendable {
        /// Every loop has turned recently.
        case turning
        /// At least one loop has not, or does not run at all.
        case standing
        /// The loop of that number has been standing for the whole allowed time.
        case stuck(loop: Int, standingMs: Int)
    }

    private struct Loop {
        var ticks: Int
        var standingMs = 0
    }

    private let count: Int
    private let exitMs: Int
    private var loops: [Loop] = []
    private var lookedMs: Int?

    /// The time in which a working loop turns several times, milliseconds.
    private static let lateMs = 2_000
    /// The most time that one look counts, milliseconds: after a longer pause the watch itself was not running.
    private static let lookMsMax = 2_000

    /// Watches `count` loops; one may stand for `exitMs` milliseconds, 0 without a limit.
    public init(count: Int, exitMs: Int) {
        (self.count, self.exitMs) = (count, exitMs)
    }

    /// Looks at the number of turns of each loop; called at least once a second.
    public mutating func look(_ ticks: [Int], nowMs: Int) -> Verdict {
        let passedMs = min(nowMs - (lookedMs ?? nowMs), LoopWatch.lookMsMax)
        lookedMs = nowMs
        for (index, now) in ticks.enumerated() {
            guard index < loops.count else {
                loops.append(Loop(ticks: now))
                continue
            }
            if loops[index].ticks == now {
                loops[index].standingMs += passedMs
            } else {
                loops[index] = Loop(ticks: now)
            }
        }
        guard let longest = loops.indices.max(by: { loops[$0].standingMs < loops[$1].standingMs }) else {
            return .standing
        }
        let standingMs = loops[longest].standingMs
        if exitMs > 0 && standingMs >= exitMs { return .stuck(loop: longest, standingMs: standingMs) }
        return ticks.count < count || standingMs >= LoopWatch.lateMs ? .standing : .turning
    }
}
