/// The clock that is wrong: this process's, Redis's, or none (decisions D100).
///
/// Each process knows the offset of its wall clock from Redis's, and reads the offsets of the others. The median of all
/// of them and of Redis itself, whose offset is 0, stands for most clocks. A process follows only its own wall clock or
/// Redis's, so a forged entry cannot give it a third time.
public enum ClockVerdict: Equatable, Sendable {
    /// This process's clock and Redis's agree.
    case right
    /// This process's clock differs from most others: it follows Redis.
    case alone
    /// This process's clock and Redis's differ, and no other process decides which is right: it follows Redis.
    case undecided
    /// Most processes agree with each other and not with Redis: they follow their own clocks.
    case redisIsWrong
    /// Most other processes agree with each other, but differ from Redis and this one, which agree: it follows Redis.
    case othersAreWrong

    /// Judges the offset of this process's clock from Redis's, and those of the others, milliseconds.
    ///
    /// Offsets up to `boundMs` count as none.
    public init(own: Int, others: [Int], boundMs: Int) {
        func isNear(_ left: Int, _ right: Int) -> Bool {
            let (difference, isOver) = left.subtractingReportingOverflow(right)
            return !isOver && difference.magnitude <= UInt(max(boundMs, 0))
        }
        let most = ClockVerdict.median(others + [own, 0])
        if isNear(own, 0) {
            self = isNear(most, own) ? .right : .othersAreWrong
        } else if isNear(own, most) {
            self = .redisIsWrong
        } else {
            self = others.contains { isNear($0, most) } ? .alone : .undecided
        }
    }

    /// The median; of two middle offsets the one nearer to Redis's.
    private static func median(_ offsets: [Int]) -> Int {
        let sorted = offsets.sorted()
        let high = sorted[sorted.count / 2]
        guard sorted.count.isMultiple(of: 2) else { return high }
        let low = sorted[sorted.count / 2 - 1]
        return low.magnitude < high.magnitude ? low : high
    }

    /// Whether this process follows its own wall clock.
    public var followsOwn: Bool { self == .redisIsWrong }
}
