/// The parts of the facts that a caller may be told.
extension WhyFacts {
    /// The extent of an answer.
    public enum Scope: Equatable, Sendable {
        /// For keys that may read and write: everything.
        case everything
        /// For keys that may only read: everything but the users who block the user.
        case withoutBlockers
        /// For tokens bound to topics: the subscriptions to the topic in question.
        case topic
    }

    /// The facts of that extent.
    public func told(to scope: Scope) -> WhyFacts {
        var told = self
        told.scope = scope
        switch scope {
        case .everything: break
        case .withoutBlockers: told.blocks?.blockedBy = []
        case .topic:
            told.sessions = sessions.compactMap(\.ofTopic)
            told.revokedUntil = nil
            if let known = blocks {
                told.blocks = Blocks(blocks: [], blockedBy: [], isStandIn: known.isStandIn)
            }
            // The reason may name a block, or another topic.
            if case .refused = rights { told.rights = .refused("the topic does not admit the user") }
        }
        return told
    }
}

extension SessionFact {
    /// The session's subscriptions to the topic in question; `nil` when it had none.
    public var ofTopic: SessionFact? {
        guard !stays.isEmpty else { return nil }
        var part = SessionFact(id: id)
        (part.user, part.isFull, part.stays) = (user, isFull, stays)
        for index in part.stays.indices { part.stays[index].message = nil }
        return part
    }
}
