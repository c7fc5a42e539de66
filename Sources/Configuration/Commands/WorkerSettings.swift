public import Core

/// The settings of a worker node.
public struct WorkerSettings: Sendable, Equatable {
    /// Where metrics and health are served; `nil` serves none.
    public var ops: HostPort?
    /// The URL of Redis; may hold a password, so it is shown only through ``report``.
    public var redis = "redis://127.0.0.1:6379"
    /// What is put before every Redis key and channel.
    public var redisPrefix = ""
    /// The directory of the operator's own scripts.
    public var scripts: String?
    /// The form of log lines.
    public var log = LogFormat.text
    /// The least important level that is logged.
    public var logLevel = LogLevel.info
    /// Where the bound addresses are written once the worker runs.
    public var readyFile: String?
    /// Every limit; `--drain-seconds` is ``Limits/drainMs`` here.
    public var limits = Limits()
    /// The policy of each namespace that exists.
    public var namespaces = NamespacePolicy.defaults
    /// What is in effect and where it was set, secrets masked; empty for settings made by code.
    public var report = SettingsReport()

    /// The defaults.
    public init() {}

    /// One line for each setting in effect: name, value, source; passwords are masked.
    public func describe() -> String { report.description }
}

extension WorkerSettings {
    /// Reads what passed its checks.
    init(_ values: SettingValues, _ file: FileReader) {
        ops = values.hostPort("ops")
        redis = values.text("redis") ?? redis
        redisPrefix = values.text("redis-prefix") ?? redisPrefix
        scripts = values.text("scripts")
        log = values.choice("log", default: log)
        logLevel = values.choice("log-level", default: logLevel)
        readyFile = values.text("ready-file")
        limits = values.limits
        namespaces = file.namespaces
        report = SettingsReport(values, file)
    }
}
