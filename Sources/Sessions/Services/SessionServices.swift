public import Core
public import Service
public import Topics
public import Traces

/// The services that peers and sessions use; made once a shard, so that each of them holds a single reference.
///
/// Thread: the shard's.
public final class SessionServices {
    /// The shard's address, with which the ids of sessions begin.
    let address: ShardAddress
    let clock: ShardClock
    let rules: SessionRules
    let topics: any TopicAccess
    let encodings: EncodingTable
    let log: any LogAccess
    let presence: any PresenceAccess
    let commands: any CommandAccess
    let callers: any CallerAccess
    /// The figures and the log.
    public let reports: any SessionReporting
    /// The record of what became of sessions.
    public let trace: SessionTrace
    /// The open sessions by user.
    public let users = UserSessions()

    /// The services of one shard.
    public init(
        address: ShardAddress, clock: ShardClock, rules: SessionRules, topics: any TopicAccess,
        encodings: EncodingTable, log: any LogAccess,
        presence: any PresenceAccess, commands: any CommandAccess, callers: any CallerAccess,
        reports: any SessionReporting, trace: SessionTrace
    ) {
        self.address = address
        self.clock = clock
        self.rules = rules
        self.topics = topics
        self.encodings = encodings
        self.log = log
        self.presence = presence
        self.commands = commands
        self.callers = callers
        self.reports = reports
        self.trace = trace
    }
}

@available(*, unavailable)
extension SessionServices: Sendable {}
