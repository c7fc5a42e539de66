/// The positions of all values in `KEYS` and `ARGV` of a call, from 1 as in Lua.
///
/// Only this type knows the order: the generated Lua reads by it, and ``CommandCallBuilder`` follows it.
struct CallLayout {
    /// The `ARGV` before the first home topic.
    ///
    /// In order: time, user, role, run, epoch, fingerprint, lifetime of an answer, randomness, prefix, the outbox's
    /// bounds and the payer, fence token, presence flags.
    static let fixedArguments = 12
    /// `KEYS` before the first home topic: outbox, done.
    static let fixedKeys = 2
    /// `KEYS` of each home topic: log, meta.
    static let keysPerTopic = 2
    /// The `ARGV` of each home topic: topic, channel, events, seconds of the log, seconds of the position, last known
    /// event.
    static let argumentsPerTopic = 6

    private let topicCount: Int
    private let keyCount: Int
    private let argumentCount: Int
    private let derivedCount: Int
    private let resolvedCount: Int
    private let rereadCount: Int
    private let hasFence: Bool
    private let changesMembers: Bool
    private let callsOut: Bool
    private let lookedCount: Int

    init(_ descriptor: CommandDescriptor) {
        topicCount = descriptor.homeTopics.count
        keyCount = descriptor.keys.count
        argumentCount = descriptor.arguments.count
        derivedCount = descriptor.derived.count
        resolvedCount = descriptor.resolved.count
        rereadCount = descriptor.resolved.count { descriptor.rereads($0) }
        hasFence = descriptor.refresh != nil
        changesMembers = descriptor.changesMembers
        callsOut = !descriptor.callsOut.isEmpty
        lookedCount = descriptor.looked.count
    }

    /// The log of the n-th home topic, from 0; its meta follows.
    func log(_ topic: Int) -> Int { CallLayout.fixedKeys + CallLayout.keysPerTopic * topic + 1 }
    /// The n-th key of the header, from 0.
    func key(_ index: Int) -> Int { CallLayout.fixedKeys + CallLayout.keysPerTopic * topicCount + index + 1 }
    /// The key of the n-th value that is resolved again, from 0.
    func resolvedKey(_ index: Int) -> Int { key(keyCount) + index }
    /// The fence of a refresh.
    var fence: Int { resolvedKey(rereadCount) }
    /// The key that records users removed from members, for a script that changes members; the members of each home
    /// topic follow.
    var removed: Int { fence + (hasFence ? 1 : 0) }
    /// The members of the n-th home topic, from 0.
    func members(_ topic: Int) -> Int { removed + 1 + topic }
    /// The most members that a topic may have, for a script that changes members.
    var membersMax: Int { resolved(resolvedCount) }
    /// The stream of calls of the n-th outside service, from 0.
    func calls(_ service: Int) -> Int { (changesMembers ? members(topicCount) : removed) + service }
    /// The most calls of one service that may wait, for a script that calls one.
    var callsMax: Int { membersMax + (changesMembers ? 1 : 0) }
    /// The name of the n-th key of another id that is looked at, from 0.
    func looked(_ index: Int) -> Int { callsMax + (callsOut ? 1 : 0) + index }
    /// The first of the n-th home topic's values, from 0.
    func topic(_ topic: Int) -> Int { CallLayout.fixedArguments + CallLayout.argumentsPerTopic * topic + 1 }
    /// The n-th argument of the header, from 0.
    func argument(_ index: Int) -> Int { topic(topicCount) + index }
    /// The n-th derived value, from 0.
    func derived(_ index: Int) -> Int { argument(argumentCount) + index }
    /// The n-th resolved value, from 0.
    func resolved(_ index: Int) -> Int { derived(derivedCount) + index }
}
