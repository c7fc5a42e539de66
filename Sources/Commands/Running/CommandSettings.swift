public import Core

/// The configuration that calls of commands need.
public struct CommandSettings: Sendable {
    /// The maker of names, with the configured prefix.
    public let keys: Keys
    /// The namespaces, for the logs of home topics.
    public let policies: [String: NamespacePolicy]
    /// The limits of the outbox; beyond: `unavailable`.
    public let outbox: OutboxRoom
    /// The time for which an operation's answer is stored, seconds.
    public let doneSeconds: Int
    /// The most members of a topic; beyond: `too_large`.
    public let membersMax: Int
    /// The most waiting calls of one outside service; beyond: `unavailable`.
    public let callsMax: Int
    /// The limits of an answer's JSON.
    public let answerLimits: JSON.Limits
    /// The most bytes of an answer; beyond: `internal`.
    public let answerBytesMax: Int
    /// Now, milliseconds since 1970.
    public let nowMs: @Sendable () -> Int

    /// Makes settings.
    public init(
        keys: Keys, policies: [String: NamespacePolicy], outbox: OutboxRoom, doneSeconds: Int, membersMax: Int,
        callsMax: Int, answerLimits: JSON.Limits, answerBytesMax: Int, nowMs: @escaping @Sendable () -> Int
    ) {
        self.keys = keys
        self.policies = policies
        self.outbox = outbox
        self.doneSeconds = doneSeconds
        self.membersMax = membersMax
        self.callsMax = callsMax
        self.answerLimits = answerLimits
        self.answerBytesMax = answerBytesMax
        self.nowMs = nowMs
    }
}
