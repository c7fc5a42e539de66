/// The rest after a lap through the members of a large topic.
///
/// Writing an event to thousands takes many ticks. Without a rest a busy topic would fill the loop with writes of few
/// events each; with one, what comes meanwhile leaves in one write a member, and publishes, pings and handshakes find
/// the loop free for a fifth of the time. A topic whose events come further apart than a lap and its rest never waits.
/// Pure: time is a parameter.
struct FanoutRest {
    /// When the lap began, monotonic microseconds; `nil` between laps.
    private var begunUs: Int?
    private var endUs = Int.min

    /// The rest is a quarter of what the lap took, but not longer than this.
    static let usMax = 2_000

    /// The first millisecond in which the rest is over.
    var endMs: Int { endUs / 1_000 + 1 }

    /// Whether the next lap may begin.
    func isOver(nowUs: Int) -> Bool { nowUs >= endUs }

    /// Members have their turn; nothing when the lap has begun already.
    mutating func workBegins(nowUs: Int) {
        begunUs = begunUs ?? nowUs
    }

    /// The lap has ended.
    mutating func begins(nowUs: Int) {
        guard let begunUs else { return }
        self.begunUs = nil
        endUs = nowUs + min(max((nowUs - begunUs) / 4, 0), FanoutRest.usMax)
    }
}
