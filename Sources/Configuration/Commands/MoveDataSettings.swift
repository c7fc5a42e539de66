public import Core

/// The settings of `move-data`.
public struct MoveDataSettings: Sendable, Equatable {
    /// The URL of the Redis that has the keys, a cluster's too; may hold a password.
    public var from = ""
    /// The URL of the Redis that gets them, a cluster's too; may hold a password.
    public var to = ""
    /// What is put before every Redis key; the same before and after.
    public var redisPrefix = ""
    /// `--redis-layout`; see ``layout``.
    public var redisLayout = KeyLayout.plain
    /// Whether it is only counted what would be done.
    public var isDryRun = false
    /// Every limit; `scanKeys` is how many keys are looked at together.
    public var limits = Limits()

    /// Settings without servers.
    public init() {}

    /// The layout that the keys get: tagged on a cluster.
    public var layout: KeyLayout { SettingURL.isCluster(to) ? .tagged : redisLayout }
}

extension MoveDataSettings {
    /// Reads what passed its checks.
    init(_ values: SettingValues) {
        from = values.text("from") ?? from
        to = values.text("to") ?? to
        redisPrefix = values.text("redis-prefix") ?? redisPrefix
        redisLayout = values.choice("redis-layout", default: redisLayout)
        isDryRun = values.boolean("dry-run", default: false)
        limits = values.limits
    }
}
