/// Keeps what users have caused within a part of Redis's time, all users together.
///
/// Entries are begun in rounds. A round takes as long as Redis is busy with it, then the same time, or more or less by
/// the percentage, is left to others. While others keep Redis busy as well, rounds take longer, and so do the pauses. A
/// value of facts: no I/O; times are monotonic milliseconds.
struct RelayBudget {
    private let percent: Int
    private var startMs = 0
    private var begun = 0
    private var inFlight = 0
    /// When the next round may begin.
    private(set) var pausesUntilMs = Int.min

    /// Entries of one round.
    ///
    /// More would keep Redis from everybody else for several milliseconds.
    static let roundMax = 64
    /// The longest pause, whatever a round took: an answer may have waited for a server that was away.
    static let pauseMaxMs = 250

    /// `percent` of the time may be taken, 1...100.
    init(percent: Int) {
        self.percent = percent
    }

    /// Whether another entry may be begun.
    func admits(nowMs: Int) -> Bool { nowMs >= pausesUntilMs && begun < RelayBudget.roundMax }

    /// An entry was begun.
    mutating func began(nowMs: Int) {
        if begun == 0 { startMs = nowMs }
        begun += 1
        inFlight += 1
    }

    /// An entry was done, or failed.
    ///
    /// A round is over when nearly all of its entries are: a few that nobody answers hold nobody up.
    mutating func ended(nowMs: Int) {
        inFlight -= 1
        guard begun > 0, inFlight <= (begun == RelayBudget.roundMax ? begun / 4 : 0) else { return }
        let tookMs = max(nowMs - startMs, 0)
        pausesUntilMs = nowMs + min(tookMs * (100 - percent) / percent, RelayBudget.pauseMaxMs)
        begun = 0
    }
}
