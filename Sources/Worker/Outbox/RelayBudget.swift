/// Limits the entries that users have caused to a part of Redis's time, all users together.
///
/// Entries are begun in rounds. After a round a pause follows, as long as the round at 50 percent, else in the ratio of
/// the percentage. While others keep Redis busy as well, rounds take longer, and so do the pauses. A value of facts: no
/// I/O; times are monotonic milliseconds.
struct RelayBudget {
    private let percent: Int
    private var startMs = 0
    private var begun = 0
    private var inFlight = 0
    /// The time at which the next round may begin.
    private(set) var pausesUntilMs = Int.min

    /// The most entries of one round.
    ///
    /// More would block Redis for everybody else for several milliseconds.
    static let roundMax = 64
    /// The longest pause, whatever a round took: its answers may have waited for a server that was away.
    static let pauseMaxMs = 250

    /// `percent` of the time may be used, 1...100.
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
    /// A round ends when nearly all of its entries have ended: a few unanswered ones must not delay the next round.
    mutating func ended(nowMs: Int) {
        inFlight -= 1
        guard begun > 0, inFlight <= (begun == RelayBudget.roundMax ? begun / 4 : 0) else { return }
        let tookMs = max(nowMs - startMs, 0)
        pausesUntilMs = nowMs + min(tookMs * (100 - percent) / percent, RelayBudget.pauseMaxMs)
        begun = 0
    }
}
