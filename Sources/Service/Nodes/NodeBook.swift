import Configuration
public import RedisLink

/// The knowledge of a process about its clock and the other processes on its Redis, with the log lines about changes.
///
/// Pure.
public struct NodeBook: Sendable {
    /// Processes of one kind and version.
    public struct Group: Hashable, Sendable {
        /// Kind of the processes.
        public let kind: NodeEntry.Kind
        /// Their version, of printable ASCII.
        public let version: String
        /// The format of their data in Redis.
        public let format: Int
    }

    /// A gateway that was live and is not any more.
    public struct Departed: Equatable, Sendable {
        /// Its name.
        public let name: [UInt8]
        /// When Redis last listed it, milliseconds since 1970.
        public let seenMs: Int
    }

    /// This process.
    public let own: NodeEntry
    /// The other processes that were live when Redis was last asked.
    public private(set) var others: [NodeEntry] = []
    /// The gateways that have gone within the last hour, the last ones; bounded.
    public private(set) var departed: [Departed] = []
    /// When Redis was last asked, milliseconds since 1970.
    private var learnedMs: Int?
    /// The clock that is wrong; `nil` while Redis has not returned its time.
    public private(set) var verdict: ClockVerdict?
    /// The offset of this process's wall clock from Redis's, milliseconds, positive when ahead; `nil` while it is not
    /// known.
    public private(set) var offsetMs: Int?
    private var reportedVersions: [String]
    private let boundMs: Int

    /// The most groups in metrics; further ones are left out.
    private static let groupsMax = 16
    private static let departedMax = 64
    private static let departedKeepMs = 3_600_000

    /// Begins with `own` alone; clocks that differ by at most `boundMs` milliseconds count as equal.
    public init(_ own: NodeEntry, boundMs: Int) {
        (self.own, self.boundMs) = (own, boundMs)
        reportedVersions = [own.version]
    }

    /// Takes an answer of Redis at its time `nowMs`, and the offset that it shows; returns the lines to log.
    public mutating func learned(_ others: [NodeEntry], offsetMs: Int, nowMs: Int) -> [LogEntry] {
        noteDeparted(now: others, nowMs: nowMs)
        self.others = others
        self.offsetMs = offsetMs
        let now = ClockVerdict(own: offsetMs, others: others.compactMap(\.offsetMs), boundMs: boundMs)
        let before = verdict
        verdict = now
        return [clockLine(now, before), versionLine()].compactMap(\.self)
    }

    /// Notes the gateways that Redis lists no more; one that is listed again has not gone.
    private mutating func noteDeparted(now: [NodeEntry], nowMs: Int) {
        let names = Set(now.map(\.name))
        departed.removeAll { names.contains($0.name) || nowMs - $0.seenMs >= NodeBook.departedKeepMs }
        for other in others where other.kind == .gateway && !names.contains(other.name) {
            departed.append(Departed(name: other.name, seenMs: learnedMs ?? nowMs))
        }
        if departed.count > NodeBook.departedMax { departed.removeFirst(departed.count - NodeBook.departedMax) }
        learnedMs = nowMs
    }

    private func clockLine(_ now: ClockVerdict, _ before: ClockVerdict?) -> LogEntry? {
        guard now != before, now != .right || before != nil else { return nil }
        let fields = [("offsetMs", "\(offsetMs ?? 0)"), ("others", "\(others.count)")]
        guard let mend = now.mend else { return LogEntry(.info, "the clock agrees with redis again", fields) }
        return LogEntry(.warn, now.text, fields + [("mend", mend)])
    }

    private mutating func versionLine() -> LogEntry? {
        let versions = Set((others + [own]).map(\.version)).sorted()
        guard versions != reportedVersions else { return nil }
        defer { reportedVersions = versions }
        guard versions.count > 1 else {
            return reportedVersions.count > 1
                ? LogEntry(.info, "all processes have one version", [("version", versions[0])]) : nil
        }
        let text = "processes of several versions share this redis"
        return LogEntry(
            .warn, text,
            [("own", own.version), ("versions", versions.prefix(NodeBook.groupsMax).joined(separator: ","))])
    }

    /// Whether this process's clock is wrong while most others are right.
    public var isAlone: Bool { verdict == .alone }

    /// The number of live processes of each kind and version, this one included, in order.
    public var groups: [(group: Group, count: Int)] {
        var counts: [Group: Int] = [:]
        for entry in others + [own] {
            counts[Group(kind: entry.kind, version: entry.version, format: entry.format), default: 0] += 1
        }
        let sorted = counts.sorted {
            ($0.key.kind.rawValue, $0.key.version, $0.key.format) < (
                $1.key.kind.rawValue, $1.key.version, $1.key.format
            )
        }
        return sorted.prefix(NodeBook.groupsMax).map { ($0.key, $0.value) }
    }
}

extension ClockVerdict {
    /// The message of the log.
    var text: String {
        switch self {
        case .right: "the clock agrees with redis"
        case .alone: "the clock of this process is wrong"
        case .undecided: "the clock of this process and that of redis differ"
        case .redisIsWrong: "the clock of redis is wrong"
        case .othersAreWrong: "the clocks of most other processes are wrong"
        }
    }

    /// The remedy for the operator; `nil` when all is well.
    public var mend: String? {
        switch self {
        case .right: nil
        case .alone: "set the clock of this machine: timedatectl set-ntp true"
        case .undecided:
            "compare the clocks of this machine and of redis, and set the wrong one: timedatectl set-ntp true"
        case .redisIsWrong: "set the clock of the machine of redis: timedatectl set-ntp true"
        case .othersAreWrong: "set the clocks of the machines of the other processes: timedatectl set-ntp true"
        }
    }
}
