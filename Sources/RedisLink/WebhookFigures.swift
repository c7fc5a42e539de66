public import Core

/// The state of the webhooks to one receiver, as couriers write it into Redis for gateways.
public struct WebhookFigures: Equatable, Sendable {
    /// Topics whose events are being sent.
    public var busy: Int
    /// Topics with events that wait.
    public var waiting: Int
    /// Whether the receiver is away, so that only single attempts are made.
    public var isAway: Bool
    /// Age of the oldest event that fails, milliseconds; 0 without one.
    public var oldestMs: Int
    /// The time of the last failure, milliseconds since 1970; 0 without one.
    public var failedMs: Int
    /// The cause of the last failure; empty without one.
    public var reason: String

    /// Makes figures.
    public init(busy: Int, waiting: Int, isAway: Bool, oldestMs: Int, failedMs: Int, reason: String) {
        (self.busy, self.waiting, self.isAway) = (busy, waiting, isAway)
        (self.oldestMs, self.failedMs, self.reason) = (oldestMs, failedMs, reason)
    }

    /// Time for which figures count as those of a live courier, milliseconds.
    public static let lifeMs = 15_000
    /// Figures of receivers at couriers that are kept; beyond, all are dropped.
    public static let countMax = 1_024
    private static let reasonBytesMax = 200

    /// Five numbers, and behind them the reason.
    public var text: [UInt8] {
        Array("\(busy) \(waiting) \(isAway ? 1 : 0) \(oldestMs) \(failedMs) ".utf8)
            + Array(reason.utf8.prefix(WebhookFigures.reasonBytesMax))
    }

    /// Reads ``text``; `nil` for any other text.
    public init?(_ text: some Collection<UInt8>) {
        let words = text.split(separator: UInt8(ascii: " "), maxSplits: 5, omittingEmptySubsequences: false)
        let numbers = words.prefix(5).compactMap { $0.count <= 15 ? ASCII.decimal($0) : nil }
        guard words.count == 6, numbers.count == 5, words[5].count <= WebhookFigures.reasonBytesMax else { return nil }
        self.init(
            busy: numbers[0], waiting: numbers[1], isAway: numbers[2] == 1, oldestMs: numbers[3],
            failedMs: numbers[4], reason: PrintableText.clean(String(decoding: words[5], as: UTF8.self)))
    }

    /// The sum of two couriers' figures; the later failure counts.
    public static func + (left: WebhookFigures, right: WebhookFigures) -> WebhookFigures {
        let later = left.failedMs >= right.failedMs ? left : right
        return WebhookFigures(
            busy: left.busy + right.busy, waiting: left.waiting + right.waiting, isAway: left.isAway || right.isAway,
            oldestMs: max(left.oldestMs, right.oldestMs), failedMs: later.failedMs, reason: later.reason)
    }

    /// Writes the figures of a courier, by receiver; those that are a day old are dropped.
    ///
    /// The reply is 1 when there were too many, so that all others were dropped.
    public static func call(
        _ keys: Keys, courier: [UInt8], _ figures: [(receiver: String, figures: WebhookFigures)]
    ) -> RedisCall {
        var call = RedisCall("EVAL")
        call.append(WebhookFigures.script)
        call.append(decimal: 1)
        call.append(keys.webhookFigures)
        call.append(decimal: WebhookFigures.lifeMs)
        call.append(decimal: WebhookFigures.countMax)
        for (receiver, figures) in figures {
            call.append(field(receiver, courier))
            call.append(figures.text)
        }
        return call
    }

    /// Removes the figures of a courier that ends.
    public static func removal(_ keys: Keys, courier: [UInt8], of receivers: [String]) -> RedisCall {
        var call = RedisCall("HDEL", keys.webhookFigures)
        for receiver in receivers { call.append(field(receiver, courier)) }
        return call
    }

    private static func field(_ receiver: String, _ courier: [UInt8]) -> [UInt8] {
        Array("\(receiver) ".utf8) + courier
    }

    /// KEYS: the hash from `RECEIVER COURIER` to the end in ms since 1970, a space, and the figures.
    ///
    /// ARGV: the life of figures in ms, the number of figures that are kept, then fields and figures in turn. Time is
    /// Redis's own.
    private static let script: StaticString = """
        local time = redis.call('TIME')
        local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
        local known, kept, dropped = redis.call('HGETALL', KEYS[1]), 0, 0
        for index = 1, #known, 2 do
          local ends = tonumber(string.match(known[index + 1], '^%d+'))
          if ends and ends >= now - 86400000 then
            kept = kept + 1
          else
            redis.call('HDEL', KEYS[1], known[index])
          end
        end
        if kept > tonumber(ARGV[2]) then dropped = redis.call('DEL', KEYS[1]) end
        for index = 3, #ARGV, 2 do
          redis.call('HSET', KEYS[1], ARGV[index], string.format('%.0f', now + ARGV[1]) .. ' ' .. ARGV[index + 1])
        end
        redis.call('PEXPIRE', KEYS[1], 86400000)
        return dropped
        """
}
