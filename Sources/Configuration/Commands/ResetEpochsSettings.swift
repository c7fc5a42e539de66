public import Core

/// The settings of `reset-epochs`.
public struct ResetEpochsSettings: Sendable, Equatable {
    /// The URL of Redis; it may hold a password.
    public var redis = "redis://127.0.0.1:6379"
    /// The prefix of every Redis key and channel; the same as the gateways'.
    public var redisPrefix = ""
    /// The position of the id in names; the same as the gateways'.
    public var redisLayout = KeyLayout.plain
    /// The topics whose epochs end, each `namespace:id` or `namespace:*`; empty: all.
    public var topics: [String] = []
    /// Whether changes are only counted and not made.
    public var isDryRun = false
    /// Whether topics that were already reset since Redis was started are reset again.
    public var again = false
    /// The limits; `scanKeys` and `scanPauseMs` set the pace.
    public var limits = Limits()

    /// The defaults: all topics in the Redis of this machine.
    public init() {}

    /// The maker of names.
    public var keys: Keys {
        Keys(prefix: Array(redisPrefix.utf8), layout: SettingURL.layout(at: redis, redisLayout))
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
