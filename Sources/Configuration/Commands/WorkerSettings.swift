public import Core

/// The settings of a worker.
public struct WorkerSettings: Sendable, Equatable {
    /// The URL of Redis; may hold a password, so it is shown only through ``report``.
    public var redis = "redis://127.0.0.1:6379"
    /// What is put before every Redis key and channel; the gateways' own.
    public var redisPrefix = ""
    /// Where the id stands in names; the gateways' own.
    public var redisLayout = KeyLayout.plain
    /// The built-in packs of scripts that are served; the gateways' own.
    public var packs = ["barbershop"]
    /// The directory of the operator's scripts; the gateways' own.
    public var scripts: String?
    /// Whether `notify-keyspace-events` may be changed.
    public var keyspaceEvents = KeyspaceEvents.auto
    /// Where metrics and health are served; `nil` for nowhere.
    public var ops: HostPort?
    /// Where the time of Redis's data is remembered over restarts; `nil` for nowhere.
    public var dataTimeFile: String?
    /// The form of log lines.
    public var log = LogFormat.text
    /// The least important level that is logged.
    public var logLevel = LogLevel.info
    /// Where the process id is written once the worker works.
    public var readyFile: String?
    /// Every limit.
    public var limits = Limits()
    /// The policy of each namespace that exists.
    public var namespaces = NamespacePolicy.defaults
    /// What is in effect and where it was set, secrets masked; empty for settings made by code.
    public var report = SettingsReport()

    /// The defaults.
    public init() {}

    /// The maker of names.
    public var keys: Keys {
        Keys(prefix: Array(redisPrefix.utf8), layout: SettingURL.isCluster(redis) ? .tagged : redisLayout)
    }

    /// A worker beside a gateway, with the gateway's settings.
    public init(beside gateway: GatewaySettings) {
        redis = gateway.redis
        redisPrefix = gateway.redisPrefix
        redisLayout = gateway.redisLayout
        packs = gateway.packs
        scripts = gateway.scripts
        log = gateway.log
        logLevel = gateway.logLevel
        limits = gateway.limits
        namespaces = gateway.namespaces
    }
}

extension WorkerSettings {
    /// Reads what passed its checks.
    init(_ values: SettingValues, _ file: FileReader) {
        redis = values.text("redis") ?? redis
        redisPrefix = values.text("redis-prefix") ?? redisPrefix
        redisLayout = values.choice("redis-layout", default: redisLayout)
        scripts = values.text("scripts")
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
