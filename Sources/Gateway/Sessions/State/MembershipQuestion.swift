import Core
import Dialects
import Rights

/// A question under way whether the user is a member of a topic; one for all that wait for it.
struct MembershipQuestion {
    /// Whether what is held of the topic depends on the answer.
    var isRecheck = false
    /// Publishes in the order they came.
    var publishes: [(request: PublishRequest, ref: Reference?)] = []
}

/// Publishing, and what waits for Redis to say whether the user is a member.
extension SessionState {
    /// Publishes an event, behind those on its topic that wait; who may have to be asked for has paid before.
    mutating func publish(_ request: PublishRequest, ref: Reference?) {
        let decision = rules.access.publish(request.topic, caller)
        if case .refuse(let refusal) = decision { return refuse(refusal, topic: request.topic, ref: ref) }
        if let waitMs = rules.charge(.publish, caller) {
            let text = "more than \(limits.userActionsPerSecond) publishes a second"
            return rateLimited(text, waitMs, topic: request.topic, ref: ref)
        }
        if decision == .askMembership || questions[request.topic]?.publishes.isEmpty == false {
            hold(request, ref: ref)
        } else {
            actions.append(.publish(request, ref))
        }
    }

    /// Keeps a publish until the question is answered; the bound is of bytes, too, since Redis may be slow.
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

    /// Asks whether the user is a member, unless that is being asked.
    mutating func question(_ topic: Topic, isRecheck: Bool = false) {
        guard case .user(let identity) = caller else { return }
        if questions[topic] == nil {
            questions[topic] = MembershipQuestion()
            actions.append(.askMembership(topic, user: identity.user))
        }
        if isRecheck { questions[topic]?.isRecheck = true }
    }

    /// The question is answered: for what is held, then for who wants to join, then for who wants to publish.
    mutating func membership(_ topic: Topic, _ result: Result<Bool, Refusal>) {
        guard let question = questions.removeValue(forKey: topic) else { return }
        // Redis's answer concerns what lives as well. A missing answer ends it only after a token that grants less.
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
        } else if rules.fault == .lastWordIsForgotten, case .success(true) = result, index(of: topic) == nil {
            begin(Wish(since: nil, ref: nil, step: .topic), topic)
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

    /// Why a right is not there, by what the token says now and what Redis said; `nil` when it is.
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
