/// The results of the tool's runs: one JSON file, read again by `report` and `compare`.
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
    /// The measured server: `switchboard`, `floor`, `nchan`, ...
    var target: String
    /// Version of the target, as the target reports it; may be empty.
    var targetVersion: String = ""
    /// The settings of the command line, by flag without dashes, with the values as entered.
    var settings: [String: String]
    var passed: Bool
    /// Remarks for a reader of the figures: why the run failed, what was refused.
    var notes: [String] = []
    var seconds: Double

    var connections: Int?
    /// Publishes that were due and sent; the refused ones among them, which were answered with an error.
    var published: Int?
    var refused: Int?
    /// Clients that could not connect or subscribe; the load was then another than the settings say.
    var refusedClients: Int?
    /// Deliveries that were due, that arrived, that did not, that arrived twice, and that arrived after a later one.
    ///
    /// The last are counted only where one connection published all, so that the target alone can be the cause.
    var expected: Int?
    var delivered: Int?
    var lost: Int?
    var duplicates: Int?
    var reordered: Int?
    var deliveriesPerSecond: Double?
    /// Bytes sent to clients, without TLS's own.
    var bytesPerDelivery: Double?
    /// Of the gateway: number of encodings of one event over all shards, averaged over all publishes, the warm-up's
    /// too.
    var encodingsPerPublish: Double?
    /// Commands acknowledged (`vote`), changes received (`queue`).
    var acknowledged: Int?
    var acknowledgedPerSecond: Double?
    var handshakesPerSecond: Double?
    /// For `capacity`: the highest rate that passed, publishes a second.
    var highestRate: Int?

    /// From when a publish was due until it was received; of a command, from when it was due until its answer.
    var latency: LatencyFigures?
    /// From connect to live.
    var connect: LatencyFigures?
    /// From when a publish was due until its answer.
    var publishAnswer: LatencyFigures?
    /// Of `herd` and `slow`.
    var returned: ReturnedFigures?

    var server: ServerFigures?
    /// Cores that the tool itself kept busy: when that is near its number of cores, the tool was measured.
    var toolCores: Double?
    var redisCores: Double?
    /// Percent of the whole machine's requested CPU time that its hypervisor withheld.
    var stolenPercent: Double?
    var series: [BenchSecond] = []

    /// When the run began: ISO 8601, UTC.
    var startedAt: String?
    /// The machine and commit of this run, where they differ from those of the file's head.
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
    /// The whole histogram: pairs of a bucket's upper end and its count, buckets in order, none empty.
    var buckets: [[Int]]
}

/// Resources of the target's processes while it was measured.
struct ServerFigures: Codable {
    var processes: Int
    /// Busy cores.
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
