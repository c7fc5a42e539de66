/// Whether the loops of a process turn, and whether one has stood for too long to wait for it.
///
/// It counts how long it has seen a loop stand, not what the clock says: a process that was stopped as a whole, or a machine
/// that slept, did not look meanwhile either. So after SIGCONT nothing is held against the loops. Pure: time is a parameter.
public struct LoopWatch {
    /// Finding of one look.
    public enum Verdict: Equatable, Sendable {
        /// Every loop has turned of late.
        case turning
        /// One has not, or does not run at all.
        case standing
        /// The loop of that number has stood for the whole time that it may.
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

    /// A loop that works turns several times in this time, milliseconds.
    private static let lateMs = 2_000
    /// The most that one look counts: whoever looks more seldom was not running.
    private static let lookMsMax = 2_000

    /// Watches so many loops; one may stand for `exitMs` milliseconds, 0 for ever.
    public init(count: Int, exitMs: Int) {
        (self.count, self.exitMs) = (count, exitMs)
    }

    /// Looks at how often each loop has turned; called at least once a second.
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
