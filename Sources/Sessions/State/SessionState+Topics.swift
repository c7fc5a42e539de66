import Core
import Dialects
import Rights
import Traces

/// The topics that the client asks for: its last request on a topic wins, and each request is answered once.
extension SessionState {
    /// The decision on one topic of a subscribe request, before anything is done.
    private enum Verdict {
        case join
        case ask
        case refuse(Refusal)
        /// The rate limit allows no topic of the request.
        case postpone(Refusal)
    }

    private static let superseded = Refusal(
        .conflict, "Another request about this topic came before this one was answered; that one counts.")

    func index(of topic: Topic) -> Int? { holdings.firstIndex { $0.topic == topic } }

    // MARK: Subscribe

    /// Joins topics; limits and rights of all of them are checked first, and the budget is charged once for all of
    /// them.
    mutating func subscribe(_ requests: [SubscribeRequest], ref: Reference?) {
        var verdicts = verdicts(requests)
        let count = verdicts.count { if case .refuse = $0 { false } else { true } }
        if count > 0, let waitMs = payForJoins(count) {
            actions.append(.count(.rateLimited))
            let refusal = Refusal(
                .rateLimited, "more than \(limits.joinsPerSecond) joins a second", retryAfterMs: max(waitMs, 1))
            for index in verdicts.indices {
                if case .refuse = verdicts[index] { continue }
                verdicts[index] = .postpone(refusal)
            }
        }
        var isPostponed = false
        for (request, verdict) in zip(requests, verdicts) {
            switch verdict {
            case .join: begin(Wish(request, ref: ref, step: .topic), request.topic)
            case .ask: ask(Wish(request, ref: ref, step: .membership), request.topic)
            case .refuse(let refusal):
                noteRefused(request.topic, refusal)
                refuse(refusal, topic: request.topic, ref: ref)
            case .postpone(let refusal):
                isPostponed = true
                noteRefused(request.topic, refusal)
                send(.error(refusal, topic: request.topic), ref: ref)
            }
        }
        // A request counts as one refusal, however many topics it names.
        if isPostponed { countRefusal() }
    }

    private func verdicts(_ requests: [SubscribeRequest]) -> [Verdict] {
        var room = limits.topicsPerConnectionMax - holdings.count - heldBesides
        var text = "a connection may hold \(limits.topicsPerConnectionMax) topics"
        if caller.isAnonymous, case let addressRoom = rules.budget.room(at: address), addressRoom < room {
            room = addressRoom
            text = "connections without a token may hold \(limits.topicsPerAddressMax) topics from one address"
        }
        return requests.map { request in
            let isNew = index(of: request.topic) == nil
            if isNew && room <= 0 { return .refuse(Refusal(.tooLarge, text)) }
            switch rules.access.subscribe(request.topic, caller) {
            case .refuse(let refusal): return .refuse(refusal)
            case .allow:
                room -= isNew ? 1 : 0
                return .join
            case .askMembership:
                room -= isNew ? 1 : 0
                return .ask
            }
        }
    }

    /// Milliseconds until the budget could be charged for the joins; `nil` when it was charged.
    private mutating func payForJoins(_ count: Int) -> Int? {
        if caller.isService { return rules.budget.charge(.joins(count), caller) }
        if let waitMs = joins.waitMs(for: count, of: rules.joinRate, nowMs: nowMs), waitMs > 0 { return waitMs }
        if let waitMs = rules.budget.charge(.joins(count), caller) { return waitMs }
        return joins.take(count, of: rules.joinRate, nowMs: nowMs) ? nil : 1_000
    }

    /// Holds the request until Redis says whether the user is a member; a live subscription continues meanwhile.
    private mutating func ask(_ wish: Wish, _ topic: Topic) {
        let index = hold(topic)
        if let older = holdings[index].take(.membership) { supersede(older, topic) }
        holdings[index].wishes.append(wish)
        question(topic)
    }

    private mutating func hold(_ topic: Topic) -> Int {
        if let index = index(of: topic) { return index }
        holdings.append(Holding(topic))
        return holdings.count - 1
    }

    /// Starts a request that was allowed: once the budget is charged, it replaces the current subscription.
    mutating func begin(_ wish: Wish, _ topic: Topic) {
        if let refusal = rules.budget.payJoin(topic, caller, at: address) { return refused(wish, topic, refusal) }
        establish()
        giveWay(topic)
        if let replay = wish.replay { readReplay(replay, wish, topic) } else { enter(wish, topic) }
    }

    /// Joins the topic, or the topics it follows first.
    mutating func enter(_ wish: Wish, _ topic: Topic) {
        if isOwn(topic) { follow(wish, topic) } else { join(wish, topic) }
    }

    /// Leaves the topic if it is live or being joined, and answers its older requests.
    private mutating func giveWay(_ topic: Topic) {
        let index = hold(topic)
        let older = holdings[index].wishes
        holdings[index].wishes = []
        if holdings[index].isLive || older.contains(where: { $0.step == .topic }) { actions.append(.leave(topic)) }
        holdings[index].isLive = false
        holdings[index].isTracked = false
        for wish in older { supersede(wish, topic) }
    }

    /// Joins the topic, for which the budget was charged; the holding has no other request.
    mutating func join(_ wish: Wish, _ topic: Topic) {
        guard let index = index(of: topic) else { return }
        let isYielded = followings?.yields(topic) == true
        if isYielded { actions.append(.leave(topic)) }
        var next = wish
        next.step = .topic
        holdings[index].wishes.append(next)
        actions.append(.join(SubscribeRequest(topic: topic, since: wish.since), wish.ref))
        if isYielded { startIfSettled() }
    }

    private mutating func supersede(_ wish: Wish, _ topic: Topic) {
        refuse(SessionState.superseded, topic: topic, ref: wish.ref)
    }

    private mutating func noteRefused(_ topic: Topic, _ refusal: Refusal) {
        actions.append(.note(.refused(topic, code: Array(refusal.name.utf8), message: Array(refusal.message.utf8))))
    }

    // MARK: Unsubscribe

    mutating func unsubscribe(_ topic: Topic, ref: Reference?) {
        if let index = index(of: topic) {
            let holding = holdings.remove(at: index)
            for wish in holding.wishes { supersede(wish, topic) }
            givenUp(holding)
        }
        send(.unsubscribed(topic: topic), ref: ref)
    }

    /// The right to a topic is gone: pending requests are refused, and a subscribed client is notified of the end.
    mutating func withdraw(_ topic: Topic, _ refusal: Refusal) {
        guard let index = index(of: topic) else { return }
        let holding = holdings.remove(at: index)
        if holding.isAcknowledged {
            actions.append(
                .note(.withdrawn(topic, code: Array(refusal.name.utf8), message: Array(refusal.message.utf8))))
        }
        for wish in holding.wishes {
            noteRefused(topic, refusal)
            refuse(refusal, topic: topic, ref: wish.ref)
        }
        givenUp(holding)
        guard holding.isAcknowledged else { return }
        send(.unsubscribed(topic: topic), ref: nil)
        send(.error(refusal, topic: topic), ref: nil)
    }

    /// Leaves a topic that is no longer held; it may be followed again.
    private mutating func givenUp(_ holding: Holding) {
        if holding.isLive || holding.waits(.topic) { actions.append(.leave(holding.topic)) }
        if followings?.topic == holding.topic { return endFollowings() }
        followWaiting()
    }

    // MARK: From the topics

    /// The session is live on a topic; the topic itself has sent `subscribed`.
    mutating func joined(_ topic: Topic) {
        if let index = index(of: topic), let wish = holdings[index].take(.topic) {
            granted()
            holdings[index].goesLive(topic)
            if wish.presence { watch(topic) }
            guard followings?.topic == topic else { return }
            followings?.isHeard = true
            // A change of the set that came before the own topic was joined was reported to no session.
            readFollows()
        } else {
            followed(topic)
        }
    }

    /// A topic could not be joined; the client receives an error, and a notice when that ends its subscription.
    mutating func joinRefused(_ topic: Topic, _ refusal: Refusal) {
        guard let index = index(of: topic), let wish = holdings[index].take(.topic) else {
            return followRefused(topic)
        }
        refused(wish, topic, refusal)
    }

    /// A request has failed for good.
    ///
    /// A live subscription or another pending request continues. If the topic had to be left for the request, the
    /// subscription is lost and the client is notified.
    mutating func refused(_ wish: Wish, _ topic: Topic, _ refusal: Refusal) {
        defer { refuse(refusal, topic: topic, ref: wish.ref) }
        noteRefused(topic, refusal)
        guard let index = index(of: topic), !holdings[index].isLive,
            !holdings[index].wishes.contains(where: { $0.step != .membership })
        else { return }
        if holdings[index].isAcknowledged {
            holdings[index].isAcknowledged = false
            send(.unsubscribed(topic: topic), ref: nil)
        }
        if holdings[index].wishes.isEmpty { givenUp(holdings.remove(at: index)) }
    }

    /// Events of a topic were missed; a gap of a followed topic is reported as one of the own topic.
    mutating func missed(_ topic: Topic, _ position: Position?, _ reason: GapReason) {
        if followings?.owns(topic) == true {
            guard let own = followings?.topic else { return }
            return send(.gap(topic: own, position: nil, reason: reason), ref: nil)
        }
        // A missed event may have been a change of the set.
        if followings?.topic == topic { readFollows() }
        send(.gap(topic: topic, position: position, reason: reason), ref: nil)
    }

    // MARK: Rights

    /// Withdraws topics that a refreshed token no longer grants.
    mutating func removeForbiddenTopics() {
        for topic in holdings.map(\.topic) {
            switch rules.access.subscribe(topic, caller) {
            case .allow: break
            case .refuse(let refusal): withdraw(topic, refusal)
            case .askMembership: question(topic, isRecheck: true)
            }
        }
        unfollowForbidden()
    }
}
