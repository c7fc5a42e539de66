/// What Redis says about one thing that waits, read right before it would be sent.
public struct PushFacts: Sendable {
    /// What is to be told; `nil` when it is not there any more.
    public var content: PushContent?
    /// Whether it is unread on every device of the user.
    public var isUnread: Bool
    /// When the user's last heartbeat came, milliseconds since 1970; `nil` when none is remembered.
    public var seenMs: Int?
    /// How much is unread: what an app's icon shows.
    public var badge: Int
    /// The user's devices.
    public var devices: [PushDevice]
    /// What the user wants.
    public var rules: PushRules
    /// Whether the user mutes the sender, or one of the two blocks the other.
    public var isUnwanted = false
    /// What became of it before.
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

    /// The zone by whose clocks the quiet hours go; `nil` when the user has told none.
    public var zone: [UInt8]? {
        rules.zone ?? devices.filter { $0.zone != nil }.max { $0.registeredMs < $1.registeredMs }?.zone
    }
}

/// What becomes of one thing that waits: the rules of push, in one place.
public enum PushDecision: Sendable, Equatable {
    /// It is over; the raw value is the metric label.
    public enum Reason: String, Sendable, CaseIterable {
        /// The notification has left the inbox, or the message was taken back.
        case gone
        /// The user has read it, on whatever device.
        case read
        /// The user has no device, or every device has it.
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

    /// A user whose last heartbeat is older has no live session: they come every 20 s.
    public static let liveMs = 45_000
    /// A push that could not be sent for so long is news no more.
    public static let lifeMs = 86_400_000

    /// What becomes of it.
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
        // What waited for the morning is still news then.
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
