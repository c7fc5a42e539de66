/// The client's times in milliseconds and its limits.
///
/// Tests and demanding apps choose others.
public struct ClientTimes: Sendable, Hashable {
    /// From the dial to an open socket: 10 s.
    public var connectMs: Int64 = 10_000
    /// From the token to its answer: 10 s, as at the gateway.
    public var authenticateMs: Int64 = 10_000
    /// Silence after which the client pings: 25 s.
    public var pingMs: Int64 = 25_000
    /// Longest wait for the answer to a ping: 10 s.
    public var pongMs: Int64 = 10_000
    /// Longest wait for the answer to a ping after the app returned or the network changed: 3 s.
    public var probeMs: Int64 = 3_000
    /// The shortest pause before an attempt: 0.1 s.
    public var backoffMinMs: Int64 = 100
    /// The longest pause before an attempt: 30 s.
    public var backoffMaxMs: Int64 = 30_000
    /// Shortest time between two dials at the request of the gateway or the device: 1 s.
    public var redialMs: Int64 = 1_000
    /// A connection that lasted this long resets the pauses: 10 s.
    public var stableMs: Int64 = 10_000
    /// From the end of a topic's last iterator until the client leaves the topic: 2 s.
    public var lingerMs: Int64 = 2_000
    /// Bytes of one message; the gateway closes a connection that sends more: 64 KiB.
    public var messageBytesMax = 65_536
    /// Time after its first attempt during which an unanswered call may be sent again.
    ///
    /// 240 s: the gateway remembers an id for 300.
    public var repeatMs: Int64 = 240_000
    /// The pause after a close code that blames the client: 30 s.
    public var faultMs: Int64 = 30_000
    /// The pause after 4429: 5 s.
    public var rateClosedMs: Int64 = 5_000
    /// After this time in the background a new connection is made instead of a ping: 10 s.
    public var backgroundMs: Int64 = 10_000
    /// Joins at once, as many as the gateway allows: 64.
    public var joinsAtOnce: Int64 = 64
    /// Joins a second after those at once, as many as the gateway allows: 20.
    public var joinsPerSecond: Int64 = 20
    /// Unanswered calls at one time, over all lanes.
    public var callsInFlightMax = 8
    /// Calls at once after a pause; the gateway allows 20.
    public var callsAtOnce: Int64 = 16
    /// Calls a second after those at once; the gateway allows 10.
    public var callsPerSecond: Int64 = 8
    /// Calls that may wait.
    public var callsMax = 1_000
    /// Bytes of calls that may wait: 1 MiB.
    public var callBytesMax = 1 << 20
    /// Updates that may wait for an iterator; beyond, they are dropped and a gap is reported.
    public var updatesMax = 1_000

    /// The defaults.
    public init() {}

    /// The same values within ranges in which no sum overflows.
    ///
    /// At most a year for a time and a million for a count, and no value below its minimum.
    var bounded: ClientTimes {
        var times = self
        let durations: [WritableKeyPath<ClientTimes, Int64>] = [
            \.connectMs, \.authenticateMs, \.pingMs, \.pongMs, \.probeMs, \.backoffMinMs, \.backoffMaxMs, \.redialMs,
            \.stableMs, \.lingerMs, \.repeatMs, \.faultMs, \.rateClosedMs, \.backgroundMs,
        ]
        for time in durations { times[keyPath: time] = min(max(times[keyPath: time], 1), 31_536_000_000) }
        for rate in [\ClientTimes.joinsAtOnce, \.joinsPerSecond, \.callsAtOnce, \.callsPerSecond] {
            // Half of the calls' rate must be at least 1, too.
            times[keyPath: rate] = min(max(times[keyPath: rate], 2), 1_000_000)
        }
        for count in [\ClientTimes.callsInFlightMax, \.callsMax, \.updatesMax] {
            times[keyPath: count] = min(max(times[keyPath: count], 1), 1_000_000)
        }
        return times
    }
}

/// A rate limit: so many at once, and so many a second.
struct TokenBucket: Sendable {
    /// The most that may be taken at once after a pause.
    let atOnce: Int64
    /// The number added each second.
    var perSecond: Int64
    /// The rest, in thousandths, at `atMs`.
    private var left: Int64
    private var atMs: Int64

    /// A full bucket.
    init(atOnce: Int64, perSecond: Int64, nowMs: Int64) {
        self.atOnce = atOnce
        self.perSecond = perSecond
        left = atOnce * 1_000
        atMs = nowMs
    }

    /// The number that may be taken now.
    mutating func available(_ nowMs: Int64) -> Int {
        let passed = min(max(nowMs - atMs, 0), 1_000_000)
        left = min(atOnce * 1_000, left + passed * perSecond)
        atMs = max(atMs, nowMs)
        return Int(max(left, 0) / 1_000)
    }

    /// Takes `count` of those available.
    mutating func take(_ count: Int) { left -= Int64(count) * 1_000 }

    /// Leaves nothing until `forMs` from now.
    mutating func empty(forMs: Int64) { left = min(left, 1_000 - max(forMs, 1) * perSecond) }

    /// The time at which the next one may be taken.
    var nextAtMs: Int64 { left >= 1_000 ? atMs : atMs + (1_000 - left + perSecond - 1) / perSecond }
}

/// SplitMix64: repeatable numbers for the pauses, so that the machine stays a value.
struct Dice: Sendable, RandomNumberGenerator {
    /// The state of the sequence; the seed at first.
    var state: UInt64
    /// The next 64 bits.
    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
