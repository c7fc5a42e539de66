public import Core

/// The settings of a courier.
public struct CourierSettings: Sendable, Equatable {
    /// The URL of Redis; it may hold a password, so it is shown only through ``report``.
    public var redis = "redis://127.0.0.1:6379"
    /// The prefix of every Redis key and channel; the same as the gateways'.
    public var redisPrefix = ""
    /// The form of the names of keys and channels; the same as the gateways'.
    public var redisLayout = KeyLayout.plain
    /// The services that it asks.
    public var services: [ServiceSettings] = []
    /// The receivers that it sends events to.
    public var webhooks: [WebhookSettings] = []
    /// The PEM file of the authorities that must have issued outside certificates; `nil`: the system's authorities.
    public var authorities: String?
    /// The proxy for all outside connections; `nil`: none.
    public var proxy: String?
    /// The file of the key for pushes to Apple's devices; `nil`: no pushes are sent.
    public var apnsKeyFile: String?
    /// The id of that key.
    public var apnsKeyID: String?
    /// The id of the team at Apple.
    public var apnsTeam: String?
    /// The bundle id of the app.
    public var apnsTopic: String?
    /// The address that receives pushes instead of Apple; `nil`: Apple receives them.
    public var apnsURL: String?
    /// The address of a key set that is fetched; `nil`: none.
    public var jwksURL: String?
    /// The file that a fetched key set is written to.
    public var jwksFile: String?
    /// The address at which metrics and health are served; `nil`: none.
    public var ops: HostPort?
    /// Whether it only reports problems and ends.
    public var checksOnly = false
    /// The form of log lines.
    public var log = LogFormat.text
    /// The least important level that is logged.
    public var logLevel = LogLevel.info
    /// The file that receives the process id once the courier works; `nil`: none.
    public var readyFile: String?
    /// The limits.
    public var limits = Limits()
    /// The settings in effect with their sources, secrets masked; empty for settings made by code.
    public var report = SettingsReport()

    /// The defaults.
    public init() {}

    /// The maker of names.
    public var keys: Keys {
        Keys(prefix: Array(redisPrefix.utf8), layout: SettingURL.layout(at: redis, redisLayout))
    }
}

extension CourierSettings {
    /// Takes the checked values.
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
        jwksURL = values.text("jwks-url").flatMap { try? OutsideURL.checked($0) }
        jwksFile = values.text("jwks-file")
        ops = values.hostPort("courier-ops")
        checksOnly = values.boolean("only-check", default: false)
        log = values.choice("log", default: log)
        logLevel = values.choice("log-level", default: logLevel)
        readyFile = values.text("ready-file")
        limits = values.limits
        report = SettingsReport(values, file)
    }
}
