/// The rights and the storage of a namespace.
///
/// Deny by default: a namespace without a policy does not exist.
public struct NamespacePolicy: Sendable, Equatable {
    /// The callers that may subscribe or publish.
    public enum Rule: String, CaseIterable, Sendable {
        /// Any client, authenticated or not.
        case anyone
        /// Any authenticated user.
        case user
        /// The user whose `sub` equals the topic's id.
        case owner
        /// A user whose token's `topics` claim names the topic, or who is in the set `<topic>#members`.
        case granted
        /// Services only: the API key, or a token of role `service`.
        case service
    }

    /// The treatment of a client that reads too slowly.
    public enum SlowPolicy: String, CaseIterable, Sendable {
        /// Drop events that a newer event replaces, and report it with `gap`.
        case conflate
        /// Close 4410; the client resumes by position.
        case disconnect
    }

    /// The key by which events of one name replace each other.
    public enum ConflateBy: Sendable, Equatable {
        /// All of them.
        case name
        /// Events whose data have the same text in this member.
        case member(String)
    }

    /// The callers that may subscribe.
    public var subscribe: Rule
    /// The clients that may publish; services always may.
    public var publish: Rule
    /// Events that the log keeps, from 100 on with at most 9 more; 0 keeps none (positions still advance).
    public var logEventsMax: Int
    /// The time by which the log outlives its last event, seconds.
    public var logSeconds: Int
    /// Bytes of Redis that the log may take, at most half more between two checks; `nil`: no limit but that of events.
    ///
    /// The newest event always stays.
    public var logBytesMax: Int?
    /// The treatment of slow clients.
    public var slow: SlowPolicy
    /// The events that a newer one may replace under ``SlowPolicy/conflate``; others are never dropped.
    public var conflate: [EventName: ConflateBy]
    /// Whether the owner of a topic also receives the events of the topics in its set `<topic>#follows`.
    ///
    /// They arrive as events of the owner's topic.
    public var follows: Bool
    /// Whether the namespace has presence.
    public var presence: Bool
    /// Whether Phoenix broadcasts repeat the members of an event's data beside `payload`.
    ///
    /// It is for clients that read them there.
    public var flatten: Bool

    /// Makes a policy.
    public init(
        subscribe: Rule, publish: Rule, logEventsMax: Int, logSeconds: Int, slow: SlowPolicy,
        conflate: [EventName: ConflateBy] = [:], follows: Bool = false, presence: Bool = false, flatten: Bool = false,
        logBytesMax: Int? = nil
    ) {
        self.logBytesMax = logBytesMax
        self.presence = presence
        self.conflate = conflate
        self.follows = follows
        self.flatten = flatten
        self.subscribe = subscribe
        self.publish = publish
        self.logEventsMax = logEventsMax
        self.logSeconds = logSeconds
        self.slow = slow
    }

    /// The bound of the log in the form for scripts: the events, or `EVENTS:BYTESb` where the bytes must be checked.
    ///
    /// When the log may hold twice as many events of the largest size, no check is needed, so they cost Redis nothing
    /// more.
    public func logBound(largestBytes: Int) -> [UInt8] {
        var text: [UInt8] = []
        appendLogBound(largestBytes: largestBytes, to: &text)
        return text
    }

    /// Appends ``logBound(largestBytes:)``.
    public func appendLogBound(largestBytes: Int, to text: inout [UInt8]) {
        text.append(decimal: logEventsMax)
        guard let logBytesMax, logEventsMax > 0, largestBytes > logBytesMax / (2 * logEventsMax) else { return }
        text.append(UInt8(ascii: ":"))
        text.append(decimal: logBytesMax)
        text.append(UInt8(ascii: "b"))
    }

    /// The time by which a position outlives its topic's last event, seconds.
    ///
    /// It is a day longer than the log's, so that a returning client detects that it missed events.
    public var positionSeconds: Int { logSeconds + 86_400 }
}
