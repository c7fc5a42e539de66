/// The pause after a fan-out round through the members of a large topic.
///
/// Writing an event to thousands of members takes many ticks. Without a pause, a busy topic would fill the loop with
/// writes of few events each. With one, events that arrive meanwhile share one write for each member. Publishes, pings
/// and handshakes find the loop free for a fifth of the time. A topic whose events are further apart than a round and
/// its pause never waits.
///
/// Several shards serve a topic at once, each a part of the members, and their rounds are shorter. Each then waits for
/// as long as the members of the others would take it, so that a write has as many events as with one shard. Pure: time
/// is a parameter.
public struct FanoutPacing: Sendable {
    /// When the round began, monotonic microseconds; `nil` between rounds.
    private var begunUs: Int?
    private var endUs = Int.min

    /// The pause is a quarter of the duration of a round through all members, but at most this, in microseconds.
    static let usMax = 2_000
    /// The further pause for members on other shards is at most this, in microseconds.
    static let othersUsMax = 20_000

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

    /// The round through this shard's share of the members has ended, and the pause begins.
    public mutating func begins(nowUs: Int, _ share: FanoutShare) {
        guard let begunUs else { return }
        self.begunUs = nil
        let ownUs = max(nowUs - begunUs, 0)
        let othersUs = min(
            Int(Double(ownUs) * Double(share.all - share.own) / Double(max(share.own, 1))), FanoutPacing.othersUsMax)
        endUs = nowUs + othersUs + min((ownUs + othersUs) / 4, FanoutPacing.usMax)
    }
}
