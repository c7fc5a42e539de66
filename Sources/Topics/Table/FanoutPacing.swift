/// The pause after a fan-out round through the members of a large topic.
///
/// Writing an event to thousands of members takes many ticks. Without a pause, a busy topic would fill the loop with
/// writes of few events each. With one, events that arrive meanwhile share one write for each member. Publishes, pings
/// and handshakes find the loop free for a fifth of the time. A topic whose events are further apart than a round and
/// its pause never waits. Pure: time is a parameter.
public struct FanoutPacing: Sendable {
    /// When the round began, monotonic microseconds; `nil` between rounds.
    private var begunUs: Int?
    private var endUs = Int.min

    /// The pause is a quarter of the round's duration, but at most this, in microseconds.
    static let usMax = 2_000

    /// No round has begun, and no pause is due.
    public init() {}

    /// The first millisecond after the pause.
    public var endMs: Int { endUs / 1_000 + 1 }

    /// Whether the next round may begin.
    public func isOver(nowUs: Int) -> Bool { nowUs >= endUs }

    /// Members get their turn; no effect when the round has begun already.
    public mutating func workBegins(nowUs: Int) {
        begunUs = begunUs ?? nowUs
    }

    /// The round has ended and the pause begins.
    public mutating func begins(nowUs: Int) {
        guard let begunUs else { return }
        self.begunUs = nil
        endUs = nowUs + min(max((nowUs - begunUs) / 4, 0), FanoutPacing.usMax)
    }
}
