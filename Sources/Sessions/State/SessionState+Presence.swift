import Core
import Dialects
import Rights

/// Presence: the client's subscription to the presence of a topic, and its own entry there.
///
/// A caller that may subscribe may see the presence. A user that may subscribe may be listed. A caller without a user
/// may be listed where everybody may publish, since an entry sends data to all members. The token decides whose entry
/// it is, never the client.
extension SessionState {
    private static let none = Refusal(.notFound, "this namespace has no presence")
    private static let notJoined = Refusal(.conflict, "subscribe to the topic first")

    private func hasPresence(_ topic: Topic) -> Bool { rules.access.policy(of: topic)?.presence == true }

    /// Starts sending the presence of a topic on which the client is live.
    mutating func watch(_ topic: Topic) {
        if hasPresence(topic) {
            actions.append(.watch(topic))
        } else {
            send(.presence(topic: topic, members: nil), ref: nil)
        }
    }

    /// Lists the client as present, or updates its entry; the budget is charged as for a publish.
    mutating func track(_ request: TrackRequest, ref: Reference?) {
        let topic = request.topic
        guard let index = index(of: topic), holdings[index].isLive else {
            return refuse(SessionState.notJoined, topic: topic, ref: ref)
        }
        if let refusal = refusal(of: request, isNew: !holdings[index].isTracked) {
            return refuse(refusal, topic: topic, ref: ref)
        }
        if let waitMs = rules.budget.charge(.publish, caller) {
            let text = "more than \(limits.userActionsPerSecond) publishes and the like a second"
            return rateLimited(text, waitMs, topic: topic, ref: ref)
        }
        // A listed session also receives the presence of others.
        actions.append(.watch(topic))
        actions.append(.track(request, user: user, isNew: !holdings[index].isTracked, ref))
        holdings[index].isTracked = true
    }

    /// The owner of the entry: the user of the token, whatever the client says.
    private var user: [UInt8]? {
        guard case .user(let identity) = caller, !identity.user.isEmpty else { return nil }
        return identity.user
    }

    private func refusal(of request: TrackRequest, isNew: Bool) -> Refusal? {
        guard hasPresence(request.topic) else { return SessionState.none }
        if let refusal = caller.refusal(of: .write) { return refusal }
        guard !caller.isAnonymous || rules.access.policy(of: request.topic)?.publish == .anyone else {
            return Refusal(.unauthorized, "only users are listed here; show a token")
        }
        guard request.meta.count <= limits.presenceMetaBytesMax else {
            return Refusal(.tooLarge, "what you say of yourself has at most \(limits.presenceMetaBytesMax) bytes")
        }
        guard !isNew || holdings.count(where: \.isTracked) < limits.presenceTopicsMax else {
            return Refusal(.tooLarge, "you may be listed on \(limits.presenceTopicsMax) topics")
        }
        return nil
    }

    /// Removes the client's entry; a client without one gets an `ack`, not an error.
    mutating func untrack(_ topic: Topic, ref: Reference?) {
        guard let index = index(of: topic), holdings[index].isTracked else {
            return send(.ack(data: Array("{}".utf8)), ref: ref)
        }
        holdings[index].isTracked = false
        actions.append(.untrack(topic, ref))
    }

    /// Takes Redis's answer: the entry is stored, or is not.
    mutating func tracked(_ topic: Topic, _ result: Result<PresenceID, Refusal>, isNew: Bool, ref: Reference?) {
        switch result {
        case .success(let id):
            var answer: [UInt8] = []
            answer.append(text: "{\"id\":\"")
            answer.append(contentsOf: id.bytes)
            answer.append(text: "\"}")
            send(.ack(data: answer), ref: ref)
        case .failure(let refusal):
            if isNew, let index = index(of: topic) { holdings[index].isTracked = false }
            refuse(refusal, topic: topic, ref: ref)
        }
    }
}
