import Core
import Dialects
import Operations
import Rights

/// A pending question to Redis whether the user is a member of a topic; everything that waits for it shares it.
struct MembershipQuestion {
    /// Whether the answer may end a subscription that the session already holds.
    var isRecheck = false
    /// Publishes that wait, in the order in which they were received.
    var publishes: [(request: PublishRequest, ref: Reference?)] = []
}

/// Publishing, and the requests that wait for Redis to say whether the user is a member.
extension SessionState {
    /// Publishes an event, after the waiting publishes on its topic.
    ///
    /// The caller's budget is charged before Redis is asked for a membership.
    mutating func publish(_ request: PublishRequest, ref: Reference?) {
        let decision = rules.access.publish(request.topic, caller)
        if case .refuse(let refusal) = decision { return refuse(refusal, topic: request.topic, ref: ref) }
        if let waitMs = rules.budget.charge(.publish, caller) {
            let text = "more than \(limits.userActionsPerSecond) publishes a second"
            return rateLimited(text, waitMs, topic: request.topic, ref: ref)
        }
        if decision == .askMembership || questions[request.topic]?.publishes.isEmpty == false {
            hold(request, ref: ref)
        } else {
            actions.append(.publish(request, ref))
        }
    }

    /// Keeps a publish until the answer arrives; bounded in count and in bytes, since Redis may be slow.
    private mutating func hold(_ request: PublishRequest, ref: Reference?) {
        let bytes = heldPublishes.bytes + request.data.count
        guard heldPublishes.count < limits.heldPublishesMax, bytes <= limits.heldPublishBytesMax else {
            return rateLimited(
                "too many publishes wait for the answer whether the user is a member", limits.redisCallMs,
                topic: request.topic, ref: ref)
        }
        heldPublishes = (heldPublishes.count + 1, bytes)
        question(request.topic)
        questions[request.topic]?.publishes.append((request, ref))
    }

    /// Asks Redis whether the user is a member, unless such a question is pending.
    mutating func question(_ topic: Topic, isRecheck: Bool = false) {
        guard case .user(let identity) = caller else { return }
        if questions[topic] == nil {
            questions[topic] = MembershipQuestion()
            actions.append(.askMembership(topic, user: identity.user))
        }
        if isRecheck { questions[topic]?.isRecheck = true }
    }

    /// Takes the answer: first for the subscription held, then for a pending subscribe, then for pending publishes.
    mutating func membership(_ topic: Topic, _ result: Result<Bool, Refusal>) {
        guard let question = questions.removeValue(forKey: topic) else { return }
        // Redis's answer holds for live subscriptions, too. A missing answer ends one only after a token that grants
        // less.
        if question.isRecheck || result.failure == nil,
            let refusal = refusal(rules.access.subscribe(topic, caller), result)
        {
            withdraw(topic, refusal)
        }
        if let index = index(of: topic), let wish = holdings[index].take(.membership) {
            if let refusal = refusal(rules.access.subscribe(topic, caller), result) {
                refused(wish, topic, refusal)
            } else {
                begin(wish, topic)
            }
        }
        for (request, ref) in question.publishes {
            heldPublishes = (heldPublishes.count - 1, heldPublishes.bytes - request.data.count)
            if let refusal = refusal(rules.access.publish(topic, caller), result) {
                refuse(refusal, topic: topic, ref: ref)
            } else {
                actions.append(.publish(request, ref))
            }
        }
    }

    /// The refusal that follows from the token and from Redis's answer; `nil` when the right exists.
    private func refusal(_ decision: AccessPolicy.Decision, _ result: Result<Bool, Refusal>) -> Refusal? {
        switch decision {
        case .allow: return nil
        case .refuse(let refusal): return refusal
        case .askMembership:
            switch result.map({ AccessPolicy.Decision.membership($0) }) {
            case .success(.refuse(let refusal)), .failure(let refusal): return refusal
            case .success: return nil
            }
        }
    }
}
