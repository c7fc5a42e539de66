public import Core

/// The settings of `top`.
public struct TopSettings: Sendable, Equatable {
    /// The URL of Redis; it may hold a password.
    public var redis = "redis://127.0.0.1:6379"
    /// The prefix of every Redis key and channel; the same as the gateways'.
    public var redisPrefix = ""
    /// The position of the id in names; the same as the gateways'.
    public var redisLayout = KeyLayout.plain
    /// Whether it prints once and ends.
    public var once = false
    /// Whether it prints JSON, a line for each answer.
    public var json = false
    /// The time between two answers, seconds.
    public var intervalSeconds = 2
    /// The limits; `fleetWaitMs` is the time for which nodes are waited for.
    public var limits = Limits()

    /// The defaults: the Redis of this machine.
    public init() {}

    /// The maker of names.
    public var keys: Keys {
        Keys(prefix: Array(redisPrefix.utf8), layout: SettingURL.layout(at: redis, redisLayout))
    }
}

extension TopSettings {
    /// Takes the checked values.
    init(_ values: SettingValues) {
        redis = values.text("redis") ?? redis
        redisPrefix = values.text("redis-prefix") ?? redisPrefix
        redisLayout = values.choice("redis-layout", default: redisLayout)
        once = values.boolean("once", default: once)
        json = values.boolean("json", default: json)
        intervalSeconds = values.integer("interval") ?? intervalSeconds
        limits = values.limits
    }
}
