import Commands
import Core
import RedisLink

/// Every message that a test's Redis publishes: events of topics, changes of keys, wake-ups of the outbox.
///
/// Thread: the player's.
final class PlayEars: KeyEventsOwner {
    private let parts: WorkerParts
    private let bounds: ChannelMessage.Bounds
    private let patterns: [(refresh: Int, pattern: KeyspacePattern)]
    /// The events that were not taken yet.
    var events: [PackPlayer.Event] = []
    /// The refreshes that changes of keys have made due.
    var refreshes = DueRefreshes()
    /// Whether it does not count as a change that a key's end is set.
    var ignoresEnds = false
    /// Called when a stream of the outbox has got an entry.
    var onOutbox: ([UInt8]) -> Void = { _ in }
    /// The text of the last mark.
    private(set) var lastMark: [UInt8] = []

    /// A channel that no topic has.
    static let markChannel = Array("#mark".utf8)

    init(_ parts: WorkerParts) {
        self.parts = parts
        bounds = ChannelMessage.Bounds(parts.limits)
        let database = parts.redis.url.database
        patterns = parts.library.catalogue.refreshes.enumerated().flatMap { index, descriptor in
            (descriptor.refresh?.triggers ?? []).map {
                (index, KeyspacePattern($0, keys: parts.keys, database: database))
            }
        }
    }

    /// All channels.
    var wish: KeyEvents.Wish {
        KeyEvents.Wish(
            patterns: [Array("*".utf8)], channels: [], flags: nil, pingMs: parts.limits.redisProbeMs,
            pongMs: parts.limits.redisProbeTimeoutMs)
    }

    /// Forgets everything of an earlier case.
    func forget() {
        events = []
        refreshes = DueRefreshes()
        ignoresEnds = false
    }

    /// A key has changed.
    private func changed(_ key: [UInt8]) {
        for (refresh, pattern) in patterns {
            guard let id = pattern.id(ofKey: key) else { continue }
            refreshes.change(DueRefreshes.Name(refresh: refresh, id: id))
        }
    }

    // MARK: KeyEventsOwner

    func patternsLive() {}

    func patternMessage(_ channel: [UInt8], _ payload: [UInt8]) {
        if channel == PlayEars.markChannel {
            lastMark = payload
        } else if channel == parts.keys.outbox {
            onOutbox(payload)
        } else if let key = KeyspacePattern.key(ofChannel: channel, database: parts.redis.url.database) {
            if !ignoresEnds || !payload.elementsEqual("expire".utf8) { changed(key) }
        } else if let topic = parts.keys.topic(ofChannel: channel),
            let message = ChannelMessage.parse(payload, bounds)
        {
            events.append(PackPlayer.Event(topic: topic, name: message.event, data: message.data))
        }
    }

    func patternsLost(_ failure: RedisFailure) {}

    func keyspaceFlags(_ state: KeyspaceFlags.State) {}
}
