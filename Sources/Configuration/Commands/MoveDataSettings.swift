public import Core

/// The settings of `move-data`.
public struct MoveDataSettings: Sendable, Equatable {
    /// The URL of the Redis that has the keys, which may be a cluster; it may hold a password.
    public var from = ""
    /// The URL of the Redis that receives the keys, which may be a cluster; it may hold a password.
    public var to = ""
    /// The prefix of every Redis key; the same before and after.
    public var redisPrefix = ""
    /// `--redis-layout`; see ``layout``.
    public var redisLayout = KeyLayout.plain
    /// Whether changes are only counted and not made.
    public var isDryRun = false
    /// The limits; `scanKeys` is the number of keys in one batch.
    public var limits = Limits()

    /// Settings without servers.
    public init() {}

    /// The layout that the keys receive: tagged on a cluster.
    public var layout: KeyLayout { SettingURL.layout(at: to, redisLayout) }
}

extension MoveDataSettings {
    /// Takes the checked values.
    init(_ values: SettingValues) {
        from = values.text("from") ?? from
        to = values.text("to") ?? to
        redisPrefix = values.text("redis-prefix") ?? redisPrefix
        redisLayout = values.choice("redis-layout", default: redisLayout)
        isDryRun = values.boolean("dry-run", default: false)
        limits = values.limits
    }
}
