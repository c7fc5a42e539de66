import Configuration
import Core
import Reactors
import RedisLink
import Service

/// Reports the topics on which events are published.
///
/// It subscribes to the topics' channels. Sharded channels have no patterns; there the keyspace events of each master
/// report the logs that grew. Thread: the courier's.
final class WebhookListener: KeyEventsOwner {
    /// The callbacks.
    struct Observer {
        /// All subscriptions of a server are active: events published before may have been missed.
        let onLive: () -> Void
        /// An event was published on a topic.
        let onTopic: (Topic) -> Void
    }

    private let parts: CourierParts
    private let observer: Observer
    /// Whether keyspace events report the topics.
    private let watchesLogs: Bool
    private var events: KeyEvents?
    private var hasWarned = false

    private static let prefix = Array("__keyspace@0__:".utf8)
    private static let added = Array("xadd".utf8)
    private static let facet = Array("#log".utf8)

    init(
        _ parts: CourierParts, _ redis: WholeRedis, _ wanted: [WebhookPatterns], _ observer: Observer
    ) throws(Errno) {
        self.parts = parts
        self.observer = observer
        let watchesLogs = redis.link.isSharded
        self.watchesLogs = watchesLogs
        let all = wanted.map { watchesLogs ? $0.logs(parts.keys) : $0.channels(parts.keys) }
        let (before, behind) = watchesLogs ? (WebhookListener.prefix, WebhookListener.facet) : ([], [])
        // Events by key, of streams.
        let flags = KeyspaceFlags(Array("Kt".utf8), maySet: true, everyMs: parts.limits.courier.webhookSweepMs)
        let wish = KeyEvents.Wish(
            patterns: Array(Set(all.flatMap(\.patterns))).map { before + $0 + behind },
            channels: Array(Set(all.flatMap(\.channels))).map { before + $0 + behind },
            flags: watchesLogs ? flags : nil, pingMs: parts.limits.redisProbeMs,
            pongMs: parts.limits.redisProbeTimeoutMs)
        let name = "switchboard-courier-" + String(decoding: parts.name, as: UTF8.self) + "-events"
        events = try KeyEvents(redis, wish, name: name, owner: self)
    }

    /// Takes a placement: topics are watched there.
    func follow(_ placement: Placement) { events?.follow(placement) }

    /// A link for commands is connected to a server, whose setting can be checked.
    func connected(_ server: ServerID) { events?.connected(server) }

    /// Checks that every master reports additions to logs, when it is time.
    func work(nowMs: Int) { events?.work(nowMs: nowMs) }

    /// The time of the next check.
    var nextMs: Int { events?.nextMs ?? Int.max }

    /// Whether every server reports events as they happen.
    var isLive: Bool { events?.isLive == true }

    /// Ends all subscriptions.
    func stop() { events?.stop() }

    // MARK: KeyEventsOwner

    func patternsLive() { observer.onLive() }

    func patternMessage(_ channel: [UInt8], _ payload: [UInt8]) {
        guard watchesLogs else {
            if let topic = parts.keys.topic(ofChannel: channel) { observer.onTopic(topic) }
            return
        }
        let name = channel.dropFirst(WebhookListener.prefix.count).dropLast(WebhookListener.facet.count)
        guard payload == WebhookListener.added, let topic = parts.keys.topic(ofChannel: Array(name)) else { return }
        observer.onTopic(topic)
    }

    func patternsLost(_ failure: RedisFailure) {
        parts.log.write(.warn, "events are not told: the link is lost", [("reason", failure.metricLabel)])
    }

    /// Logs once what the operator must set, where the courier may not.
    func keyspaceFlags(_ state: KeyspaceFlags.State) {
        let failure: RedisFailure
        switch state {
        case .hidden(let found), .refused(let found, _): failure = found
        case .on, .switchedOn, .off: return
        }
        guard !hasWarned, failure.kind != .disconnected else { return }
        hasWarned = true
        parts.log.write(
            .warn, "webhooks come late: keyspace events of a master are not seen to be on",
            [
                ("reason", failure.metricLabel), ("remedy", "CONFIG SET notify-keyspace-events Kt"),
                ("meanwhile", "all logs are looked through every \(parts.limits.courier.webhookSweepMs) ms"),
            ])
    }
}

@available(*, unavailable)
extension WebhookListener: Sendable {}
