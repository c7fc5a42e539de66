public import Core

/// The settings of a courier.
public struct CourierSettings: Sendable, Equatable {
    /// The URL of Redis; may hold a password, so it is shown only through ``report``.
    public var redis = "redis://127.0.0.1:6379"
    /// What is put before every Redis key and channel; the gateways' own.
    public var redisPrefix = ""
    /// How keys and channels are named; the gateways' own.
    public var redisLayout = KeyLayout.plain
    /// The services that it asks.
    public var services: [ServiceSettings] = []
    /// The receivers that it sends events to.
    public var webhooks: [WebhookSettings] = []
    /// PEM file of the authorities that certificates outside must come from; `nil`: the system's.
    public var authorities: String?
    /// The proxy that everything outside is reached through; `nil`: none.
    public var proxy: String?
    /// The file of the key that pushes to Apple's devices are sent with; `nil`: none are sent.
    public var apnsKeyFile: String?
    /// The id of that key.
    public var apnsKeyID: String?
    /// The id of the team at Apple.
    public var apnsTeam: String?
    /// The bundle id of the app.
    public var apnsTopic: String?
    /// Where pushes are sent instead of to Apple; `nil`: to Apple.
    public var apnsURL: String?
    /// Where metrics and health are served; `nil` for nowhere.
    public var ops: HostPort?
    /// Whether it says what is wrong and ends.
    public var checksOnly = false
    /// The form of log lines.
    public var log = LogFormat.text
    /// The least important level that is logged.
    public var logLevel = LogLevel.info
    /// Where the process id is written once the courier works.
    public var readyFile: String?
    /// Every limit.
    public var limits = Limits()
    /// What is in effect and where it was set, secrets masked; empty for settings made by code.
    public var report = SettingsReport()

    /// The defaults.
    public init() {}

    /// The maker of names.
    public var keys: Keys {
        Keys(prefix: Array(redisPrefix.utf8), layout: SettingURL.isCluster(redis) ? .tagged : redisLayout)
    }
}

extension CourierSettings {
    /// Reads what passed its checks.
    init(_ values: SettingValues, _ file: FileReader) {
        redis = values.text("redis") ?? redis
        redisPrefix = values.text("redis-prefix") ?? redisPrefix
        redisLayout = values.choice("redis-layout", default: redisLayout)
        services = file.services
        webhooks = file.webhooks
        authorities = values.text("outside-ca")
        proxy = values.text("outside-proxy")
        apnsKeyFile = values.text("apns-key-file")
        apnsKeyID = values.text("apns-key-id")
        apnsTeam = values.text("apns-team")
        apnsTopic = values.text("apns-topic")
        apnsURL = values.text("apns-url").flatMap { try? OutsideURL.checked($0) }
        ops = values.hostPort("courier-ops")
        checksOnly = values.boolean("only-check", default: false)
        log = values.choice("log", default: log)
        logLevel = values.choice("log-level", default: logLevel)
        readyFile = values.text("ready-file")
        limits = values.limits
        report = SettingsReport(values, file)
    }
}
