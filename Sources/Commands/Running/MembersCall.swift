public import Core
public import RedisLink

/// A change of a topic's members, by `set_member.lua`.
public struct MembersCall: Sendable {
    /// The kind of a change.
    public enum Kind: String, Sendable {
        /// Add the user.
        case add
        /// Remove the user, and record the removal for every gateway.
        case remove
        /// Record the removal only: the user was removed already.
        case note
    }

    /// The topic whose members change.
    public let topic: Topic
    /// The user to add or remove.
    public let user: [UInt8]
    /// The kind of the change.
    public let kind: Kind

    /// Makes a change.
    public init(_ topic: Topic, user: [UInt8], _ kind: Kind) {
        (self.topic, self.user, self.kind) = (topic, user, kind)
    }

    /// Makes the change.
    ///
    /// On tagged names, members and removals lie in different slots. Then a removal is two calls. A caller that fails
    /// between them repeats both, which is harmless.
    ///
    /// - Parameters:
    ///   - membersMax: The most members that a topic may have.
    ///   - completion: Receives 1 when it changed something, 0 when not, -1 when the topic has as many members as it
    ///     may.
    public func make(
        _ script: ScriptID, on link: any RedisCalls, keys: Keys, membersMax: Int,
        _ completion: @escaping (Result<RESPValue, RedisFailure>) -> Void
    ) {
        var most: [UInt8] = []
        most.append(decimal: membersMax)
        func call(_ kind: Kind, _ keys: [[UInt8]]) -> ScriptCall {
            ScriptCall(script: script, keys: keys, arguments: [topic.bytes, user, Array(kind.rawValue.utf8), most])
        }
        let note = call(.note, [keys.removed])
        switch (kind, keys.layout) {
        case (.note, _): link.run(note, lane: nil, completion)
        case (_, .plain): link.run(call(kind, [keys.members(topic), keys.removed]), lane: nil, completion)
        case (.add, .tagged): link.run(call(.add, [keys.members(topic)]), lane: nil, completion)
        case (.remove, .tagged):
            link.run(call(.remove, [keys.members(topic)]), lane: nil) { removed in
                guard case .success = removed else { return completion(removed) }
                link.run(note, lane: nil) { noted in completion(noted.flatMap { _ in removed }) }
            }
        }
    }
}
