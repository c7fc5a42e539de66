import Configuration
import Core
import Reactors
import RedisLink
import Service
import Transport

/// Reports the topics on which events are published.
///
/// On one server it subscribes to the topics' channels. On a cluster these are sharded and have no patterns; there the
/// keyspace events of each master report the logs that grew. Thread: the courier's.
final class WebhookListener: PatternLinkOwner {
    private struct Ear {
        let address: ClusterAddress?
        let link: PatternLink
    }

    /// The callbacks.
    struct News {
        /// All subscriptions of a server are active: events published before may have been missed.
        let onLive: () -> Void
        /// An event was published on a topic.
        let onTopic: (Topic) -> Void
    }

    private let parts: CourierParts
    private let redis: WholeRedis
    private let context: ConnectionContext
    private let name: String
    private let patterns: [[UInt8]]
    private let channels: [[UInt8]]
    private let news: News
    /// By node id; an empty one stands for the single server.
    private var ears: [[UInt8]: Ear] = [:]
    private var hasWarned = false

    private static let events = Array("__keyspace@0__:".utf8)
    private static let added = Array("xadd".utf8)
    private static let facet = Array("#log".utf8)
    private static let setting = Array("notify-keyspace-events".utf8)

    init(
        _ parts: CourierParts, _ redis: WholeRedis, _ context: ConnectionContext, _ wanted: [WebhookPatterns],
        _ news: News
    ) throws(Errno) {
        self.parts = parts
        self.redis = redis
        self.context = context
        self.news = news
        name = "switchboard-courier-" + String(decoding: parts.name, as: UTF8.self) + "-events"
        let isCluster = parts.redis.url.isCluster
        let all = wanted.map { isCluster ? $0.logs(parts.keys) : $0.channels(parts.keys) }
        let (before, behind) = isCluster ? (WebhookListener.events, WebhookListener.facet) : ([], [])
        patterns = Array(Set(all.flatMap(\.patterns))).map { before + $0 + behind }
        channels = Array(Set(all.flatMap(\.channels))).map { before + $0 + behind }
        guard !isCluster else { return }
        let link = try PatternLink(
            context, parts.redis, redis.directory, name: name, patterns: patterns, channels: channels,
            pingMs: parts.limits.redisProbeMs, pongMs: parts.limits.redisProbeTimeoutMs, owner: self)
        ears[[]] = Ear(address: nil, link: link)
    }

    /// Subscribes at the present masters.
    func follow() {
        guard parts.redis.url.isCluster else { return }
        let map = redis.map
        for (id, ear) in ears where map.master(id)?.address != ear.address {
            ear.link.stop()
            ears[id] = nil
        }
        for master in map.masters where ears[master.id] == nil {
            guard
                let link = try? PatternLink(
                    context, parts.redis.at(master.address), parts.redis.directory(master.address), name: name,
                    patterns: patterns, channels: channels, pingMs: parts.limits.redisProbeMs,
                    pongMs: parts.limits.redisProbeTimeoutMs, owner: self)
            else { continue }
            ears[master.id] = Ear(address: master.address, link: link)
        }
        switchOn()
    }

    /// Makes every master report additions to logs; without the right to do so, logs once what the operator must set.
    func switchOn() {
        guard parts.redis.url.isCluster else { return }
        for server in redis.servers where server.isReady {
            server.call(RedisCall("CONFIG", Array("GET".utf8), WebhookListener.setting)) { [weak self] result in
                guard let self else { return }
                let flags = (try? result.get()).flatMap { ServerFacts.config($0)?[WebhookListener.setting] }
                guard let flags else { return warn(result) }
                let missing = WebhookListener.missing(flags)
                guard !missing.isEmpty else { return }
                server.call(RedisCall("CONFIG", Array("SET".utf8), WebhookListener.setting, flags + missing)) {
                    [weak self] in self?.warn($0)
                }
            }
        }
    }

    /// The flags to add: events by key, of streams.
    static func missing(_ flags: [UInt8]) -> [UInt8] {
        // `A` stands for every class.
        let hasClass = flags.contains(UInt8(ascii: "t")) || flags.contains(UInt8(ascii: "A"))
        return (flags.contains(UInt8(ascii: "K")) ? [] : [UInt8(ascii: "K")]) + (hasClass ? [] : [UInt8(ascii: "t")])
    }

    private func warn(_ result: Result<RESPValue, RedisFailure>) {
        guard case .failure(let failure) = result, !hasWarned, failure.kind != .disconnected else { return }
        hasWarned = true
        parts.log.write(
            .warn, "webhooks come late: keyspace events of a master are not seen to be on",
            [
                ("reason", failure.metricLabel), ("remedy", "CONFIG SET notify-keyspace-events Kt"),
                ("meanwhile", "all logs are looked through every \(parts.limits.courier.webhookSweepMs) ms"),
            ])
    }

    /// Whether every server reports events as they happen.
    var isLive: Bool { !ears.isEmpty && ears.values.allSatisfy(\.link.isLive) }

    /// Ends all subscriptions.
    func stop() {
        for ear in ears.values { ear.link.stop() }
    }

    // MARK: PatternLinkOwner

    func patternsLive() { news.onLive() }

    func patternMessage(_ channel: [UInt8], _ payload: [UInt8]) {
        guard parts.redis.url.isCluster else {
            if let topic = parts.keys.topic(ofChannel: channel) { news.onTopic(topic) }
            return
        }
        guard payload == WebhookListener.added,
            let topic = parts.keys.topic(
                ofChannel: Array(channel.dropFirst(WebhookListener.events.count).dropLast(WebhookListener.facet.count)))
        else { return }
        news.onTopic(topic)
    }

    func patternsLost(_ failure: RedisFailure) {
        parts.log.write(.warn, "events are not told: the link is lost", [("reason", failure.metricLabel)])
    }
}

@available(*, unavailable)
extension WebhookListener: Sendable {}
