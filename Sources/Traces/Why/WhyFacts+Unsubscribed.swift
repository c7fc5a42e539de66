import Core

/// Decisions about users without a subscription, and about events that are none.
extension WhyFacts {
    /// The decision where no such event was published.
    func decideUnpublished() -> Decision? {
        switch event {
        case .notReached, .noTopic:
            guard let partner = blocks?.partner else { return (.notPublished, []) }
            let text = "One of the users \(user) and \(partner) blocks the other"
            return (.mutedByBlock, ["\(text), so messages between them are refused and never published."])
        case .logged, .gone, .otherEpoch: return nil
        }
    }

    /// The decision about an event of an ended epoch that no session's record names.
    func decideEnded() -> Decision? {
        guard case .otherEpoch(let top) = event else { return nil }
        return (
            .otherEpoch,
            [
                "The topic is at \(String(decoding: top.text, as: UTF8.self)) now.",
                "No log holds events of an ended epoch, and no session's record names this one.",
            ]
        )
    }

    /// The decision where a node lived at the time of the event and is gone.
    func decideGone() -> Decision? {
        let gone = goneNodes.filter { $0.seenMs >= eventMs ?? 0 }
        guard let node = gone.first(where: \.listsUser) ?? gone.first else { return nil }
        return (
            .nodeGone,
            [
                "Gateway \(node.name) was last seen at \(time(node.seenMs)) and does not exist any more.",
                "Its record went with it, so what its sessions received is not known.",
                node.listsUser
                    ? "The topic's presence still lists the user on that gateway."
                    : "No gateway that answered has a session of the user that was subscribed when the event came.",
            ]
        )
    }

    /// The decision where no session of the user subscribed.
    func decideWithoutSubscription() -> Decision {
        if let refused = sessions.flatMap(\.refused).max(by: { $0.atMs < $1.atMs }) {
            let text = "At \(time(refused.atMs)) a subscribe of the user was refused with `\(refused.code)`"
            if refused.code == "blocked" { return (.mutedByBlock, ["\(text): \(refused.message)"]) }
            return (
                WhyFacts.rightCodes.contains(refused.code) ? .noRights : .neverSubscribed,
                ["\(text): \(refused.message)"]
            )
        }
        if let session = sessions.last, !session.tokens.isEmpty { return (.tokenRefused, tokenSentences(session)) }
        if sessions.isEmpty, revokedUntil != nil {
            return (.tokenRefused, ["The user has had no session in the last hour, and the user's tokens are revoked."])
        }
        if case .refused(let message) = rights {
            return (.noRights, ["No session of the user subscribed, and the user has no right to: \(message)"])
        }
        if let reason = unknown() { return (.unknown, [reason]) }
        return (.neverSubscribed, [neverSentence])
    }

    private static let rightCodes = [ErrorCode.forbidden, .unauthorized, .notFound].map(\.rawValue)

    /// The reason for which it is not known whether the user subscribed; `nil` when it is known.
    private func unknown() -> String? {
        guard unanswered.isEmpty else { return "No gateway that answered has a session of the user on this topic." }
        guard let since = recordedSinceMs else {
            return "A gateway keeps no record of sessions, since `traceBytesMax` is 0 there."
        }
        guard let eventMs, since > eventMs else { return nil }
        return "No session of the user is subscribed, and the records begin at \(time(since)), after the event."
    }

    private var neverSentence: String {
        if scope == .topic {
            return "No session of the user has subscribed to the topic since \(time(recordedSinceMs))."
        }
        guard !sessions.isEmpty else { return "The user has had no session since \(time(recordedSinceMs))." }
        let ids = sessions.suffix(3).map(\.id).joined(separator: ", ")
        return "The user has or had \(sessions.count) sessions (\(ids)), and none of them asked for this topic."
    }
}
