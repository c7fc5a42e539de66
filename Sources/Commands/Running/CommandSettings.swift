public import Core

/// What calls of commands need from the configuration.
public struct CommandSettings: Sendable {
    /// The maker of names, with the configured prefix.
    public let keys: Keys
    /// The namespaces, for the logs of home topics.
    public let policies: [String: NamespacePolicy]
    /// The room of the outbox; beyond: `unavailable`.
    public let outbox: OutboxRoom
    /// How long an operation's answer is remembered, seconds.
    public let doneSeconds: Int
    /// Members that a topic may have; beyond: `too_large`.
    public let membersMax: Int
    /// Calls of one service outside that may wait; beyond: `unavailable`.
    public let callsMax: Int
    /// What an answer may hold.
    public let answerLimits: JSON.Limits
    /// Bytes of an answer; beyond: `internal`.
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
