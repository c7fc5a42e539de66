public import Core

/// The settings of `reset-epochs`.
public struct ResetEpochsSettings: Sendable, Equatable {
    /// The URL of Redis; may hold a password.
    public var redis = "redis://127.0.0.1:6379"
    /// What is put before every Redis key and channel; the gateways' own.
    public var redisPrefix = ""
    /// Where the id stands in names; the gateways' own.
    public var redisLayout = KeyLayout.plain
    /// The topics whose epochs end, each `namespace:id` or `namespace:*`; empty: all.
    public var topics: [String] = []
    /// Whether it is only counted what would be done.
    public var isDryRun = false
    /// Whether topics that were reset in this life of Redis already are reset once more.
    public var again = false
    /// Every limit; `scanKeys` and `scanPauseMs` set the pace.
    public var limits = Limits()

    /// The defaults: everything in the Redis of this machine.
    public init() {}

    /// The maker of names.
    public var keys: Keys {
        Keys(prefix: Array(redisPrefix.utf8), layout: SettingURL.isCluster(redis) ? .tagged : redisLayout)
    }
}

extension ResetEpochsSettings {
    /// Checks the operands; problems are recorded in `values`.
    init(_ values: inout SettingValues, operands: [String]) {
        redis = values.text("redis") ?? redis
        redisPrefix = values.text("redis-prefix") ?? redisPrefix
        redisLayout = values.choice("redis-layout", default: redisLayout)
        isDryRun = values.boolean("dry-run", default: false)
        again = values.boolean("again", default: false)
        limits = values.limits
        for word in operands {
            do throws(ValueFault) {
                try ValueKind.topicPattern.check(word)
                if !topics.contains(word) { topics.append(word) }
            } catch {
                values.problem(
                    .command(CommandName.resetEpochs.rawValue),
                    "expected " + error.expected + "; got " + PrintableText.quoted(word))
            }
        }
    }
}
