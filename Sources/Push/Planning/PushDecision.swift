/// The facts in Redis about one waiting item, read right before it would be sent.
public struct PushFacts: Sendable {
    /// The content of the push; `nil` when it no longer exists.
    public var content: PushContent?
    /// Whether it is unread on every device of the user.
    public var isUnread: Bool
    /// The time of the user's last heartbeat, milliseconds since 1970; `nil` when none is stored.
    public var seenMs: Int?
    /// The number of unread items, for the app's icon.
    public var badge: Int
    /// The user's devices.
    public var devices: [PushDevice]
    /// The user's preferences.
    public var rules: PushRules
    /// Whether the user mutes the sender, or one of the two blocks the other.
    public var isUnwanted = false
    /// The results of earlier tries.
    public var past: PushPast

    /// Takes the facts.
    public init(
        content: PushContent?, isUnread: Bool, seenMs: Int?, badge: Int, devices: [PushDevice], rules: PushRules,
        past: PushPast
    ) {
        self.content = content
        self.isUnread = isUnread
        self.seenMs = seenMs
        self.badge = badge
        self.devices = devices
        self.rules = rules
        self.past = past
    }

    /// The time zone of the quiet hours; `nil` when the user has set none.
    public var zone: [UInt8]? {
        rules.zone ?? devices.filter { $0.zone != nil }.max { $0.registeredMs < $1.registeredMs }?.zone
    }
}

/// The decision about one waiting item: the rules of push, in one place.
public enum PushDecision: Sendable, Equatable {
    /// The reason why an item is dropped; the raw value is the metric label.
    public enum Reason: String, Sendable, CaseIterable {
        /// The notification has left the inbox, or the message was withdrawn.
        case gone
        /// The user has read it, on any device.
        case read
        /// The user has no device, or every device has received it.
        case devices
        /// The user does not want this type, or anything of the sender.
        case off
        /// It is older than a push may be.
        case old
    }

    /// Nothing is sent, now or later.
    case drop(Reason)
    /// Nothing is sent before that time, milliseconds since 1970.
    case wait(untilMs: Int)
    /// It is sent to those devices that do not have it.
    case send(silently: Bool)

    /// Milliseconds after a heartbeat in which a user counts as having a live session; heartbeats come every 20 s.
    public static let liveMs = 45_000
    /// Milliseconds after which a push that could not be sent is too old.
    public static let lifeMs = 86_400_000

    /// Decides about an item.
    ///
    /// `zone` is that of ``PushFacts/zone``, UTC when it is unknown; the time is milliseconds since 1970.
    public static func of(_ facts: PushFacts, zone: TimeZone, nowMs: Int) -> PushDecision {
        guard let content = facts.content else { return .drop(.gone) }
        guard facts.isUnread else { return .drop(.read) }
        guard !facts.isUnwanted else { return .drop(.off) }
        guard facts.devices.contains(where: { !facts.past.done.contains($0.id) }) else { return .drop(.devices) }
        let wish = facts.rules.wish(content.type)
        guard wish != .off else { return .drop(.off) }
        if let seenMs = facts.seenMs, nowMs - min(seenMs, nowMs) < liveMs {
            return .wait(untilMs: min(seenMs, nowMs) + liveMs)
        }
        // An item that waited for the morning is still new then.
        guard nowMs - content.atMs < 2 * lifeMs, facts.past.tries == 0 || nowMs - content.atMs < lifeMs else {
            return .drop(.old)
        }
        guard wish != .urgent, let quiet = facts.rules.quiet, quiet.contains(nowMs, in: zone) else {
            return .send(silently: false)
        }
        switch quiet.mode {
        case .silent: return .send(silently: true)
        case .hold: return .wait(untilMs: quiet.end(after: nowMs, in: zone))
        }
    }
}
