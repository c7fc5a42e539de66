public import Core

/// The settings of a worker.
public struct WorkerSettings: Sendable, Equatable {
    /// The URL of Redis; it may hold a password, so it is shown only through ``report``.
    public var redis = "redis://127.0.0.1:6379"
    /// The prefix of every Redis key and channel; the same as the gateways'.
    public var redisPrefix = ""
    /// The position of the id in names; the same as the gateways'.
    public var redisLayout = KeyLayout.plain
    /// The built-in packs of scripts that are served; the same as the gateways'.
    public var packs: [String] = []
    /// The directory of the operator's scripts; the same as the gateways'.
    public var scripts: String?
    /// The numbers of packs that the operator chooses; the same as the gateways'.
    public var packNumbers: [String] = []
    /// Whether the worker may change `notify-keyspace-events`.
    public var keyspaceEvents = KeyspaceEvents.auto
    /// The address at which metrics and health are served; `nil`: none.
    public var ops: HostPort?
    /// The file that stores the time of Redis's data over restarts; `nil`: none.
    public var dataTimeFile: String?
    /// The form of log lines.
    public var log = LogFormat.text
    /// The least important level that is logged.
    public var logLevel = LogLevel.info
    /// The file that receives the process id once the worker works; `nil`: none.
    public var readyFile: String?
    /// The limits.
    public var limits = Limits()
    /// The policy of each existing namespace.
    public var namespaces: [String: NamespacePolicy] = [:]
    /// The settings in effect with their sources, secrets masked; empty for settings made by code.
    public var report = SettingsReport()

    /// The defaults.
    public init() {}

    /// The maker of names.
    public var keys: Keys {
        Keys(prefix: Array(redisPrefix.utf8), layout: SettingURL.layout(at: redis, redisLayout))
    }

    /// Settings of a worker beside a gateway, taken from the gateway's settings.
    public init(beside gateway: GatewaySettings) {
        redis = gateway.redis
        redisPrefix = gateway.redisPrefix
        redisLayout = gateway.redisLayout
        packs = gateway.packs
        scripts = gateway.scripts
        packNumbers = gateway.packNumbers
        log = gateway.log
        logLevel = gateway.logLevel
        limits = gateway.limits
        namespaces = gateway.namespaces
    }
}

extension WorkerSettings {
    /// Takes the checked values.
    init(_ values: SettingValues, _ file: FileReader) {
        redis = values.text("redis") ?? redis
        redisPrefix = values.text("redis-prefix") ?? redisPrefix
        redisLayout = values.choice("redis-layout", default: redisLayout)
        scripts = values.text("scripts")
        packNumbers = values.texts("pack-number")
        keyspaceEvents = values.choice("keyspace-events", default: keyspaceEvents)
        ops = values.hostPort("worker-ops")
        dataTimeFile = values.text("data-time-file")
        log = values.choice("log", default: log)
        logLevel = values.choice("log-level", default: logLevel)
        readyFile = values.text("ready-file")
        limits = values.limits
        packs = file.packs
        namespaces = file.namespaces
        report = SettingsReport(values, file)
    }
}
