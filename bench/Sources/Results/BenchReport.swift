/// What a run of the tool leaves behind: one JSON file, read again by `report` and `compare`.
///
/// All numbers carry their unit in their name. A figure that was not measured is absent, never 0.
struct BenchReport: Codable {
    /// The format's name; readers refuse another.
    var format = BenchReport.formatName
    var machine: MachineFacts
    /// The commit the tool was built from; ends in `+` when the tree had changes; absent outside a checkout.
    var commit: String?
    /// ISO 8601, UTC.
    var startedAt: String
    var runs: [BenchResult]

    static let formatName = "switchboard-bench/1"
}

/// The machine of a run.
struct MachineFacts: Codable, Equatable {
    var processor: String
    var cores: Int
    var memoryBytes: Int
    /// Kernel release.
    var kernel: String
    /// Distribution.
    var system: String
    var openssl: String
}

/// One scenario against one target.
struct BenchResult: Codable {
    /// The subcommand: `fanout`, `unicast`, `idle`, ...
    var scenario: String
    /// What was measured: `switchboard`, `floor`, `nchan`, ...
    var target: String
    /// Version of the target as it tells itself; may be empty.
    var targetVersion: String = ""
    /// What the command line asked for, by flag without dashes, in the words of the command line.
    var settings: [String: String]
    var passed: Bool
    /// What a reader must know to read the figures: why it failed, what was refused.
    var notes: [String] = []
    var seconds: Double

    var connections: Int?
    /// Publishes that were due and sent; of them refused (answered with an error).
    var published: Int?
    var refused: Int?
    /// Deliveries that had to come, that came, that did not; that came twice; that came after a later one (where one
    /// connection published all, so that the target alone can be the cause).
    var expected: Int?
    var delivered: Int?
    var lost: Int?
    var duplicates: Int?
    var reordered: Int?
    var deliveriesPerSecond: Double?
    /// What clients were sent, TLS's own bytes not counted.
    var bytesPerDelivery: Double?
    /// Of the gateway: how many times one event was encoded by all shards, of all publishes, the warm-up's too.
    var encodingsPerPublish: Double?
    /// Commands acknowledged (`vote`), changes seen (`queue`).
    var acknowledged: Int?
    var acknowledgedPerSecond: Double?
    var handshakesPerSecond: Double?
    /// For `capacity`: the highest rate that held, publishes a second.
    var highestRate: Int?

    /// From when a publish was due to its receipt; of a command, from when it was due to its answer.
    var latency: LatencyFigures?
    /// From connect to live.
    var connect: LatencyFigures?
    /// From when a publish was due to its answer.
    var publishAnswer: LatencyFigures?
    /// Of `herd` and `slow`.
    var returned: ReturnedFigures?

    var server: ServerFigures?
    /// Cores the tool itself kept busy: near the cores it has, it is the tool that was measured.
    var toolCores: Double?
    var redisCores: Double?
    /// Of the CPU time the whole machine asked for, what its hypervisor kept.
    var stolenPercent: Double?
    var series: [BenchSecond] = []

    /// When the run began: ISO 8601, UTC.
    var startedAt: String?
    /// What the file's head says otherwise, of a run that was appended to a file begun elsewhere.
    var machine: MachineFacts?
    var commit: String?
}

/// Latencies, microseconds.
struct LatencyFigures: Codable {
    var count: Int
    var p50Us: Int
    var p90Us: Int
    var p99Us: Int
    var p999Us: Int
    var maxUs: Int
    /// The whole histogram: pairs of a bucket's upper end and how many fell into it, buckets in order, none empty.
    var buckets: [[Int]]
}

/// What the target's processes used while it was measured.
struct ServerFigures: Codable {
    var processes: Int
    /// Cores kept busy.
    var cores: Double
    var cpuUsPerDelivery: Double?
    var cpuUsPerPublish: Double?
    /// CPU to set up one connection: TCP, TLS, upgrade, subscribe.
    var cpuUsPerConnection: Double?
    var privateBytes: Int?
    var privateBytesPerConnection: Int?
}

/// One second of a run, for plots.
struct BenchSecond: Codable {
    /// Seconds since the measuring began, at its end.
    var second: Double
    var published: Int = 0
    var delivered: Int = 0
    var p50Us: Int?
    var p99Us: Int?
    var serverCores: Double?
    var toolCores: Double?
    var connections: Int?
}
