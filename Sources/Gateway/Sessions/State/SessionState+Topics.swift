import Core
import Dialects
import Rights

/// What the client has asked for, topic by topic: its last word wins, and each request is answered once.
extension SessionState {
    /// What may be done about one topic of a subscribe request, before anything is done.
    private enum Verdict {
        case join
        case ask
        case refuse(Refusal)
        /// The rate allows none of the request.
        case postpone(Refusal)
    }

    private static let superseded = Refusal(
        .conflict, "Another request about this topic came before this one was answered; that one counts.")

    func index(of topic: Topic) -> Int? { holdings.firstIndex { $0.topic == topic } }

    // MARK: Subscribe

    /// Joins topics; limits and rights of all of them are looked at first, and one payment is for all of them.
    mutating func subscribe(_ requests: [SubscribeRequest], ref: Reference?) {
        if rules.fault == .leavesBeforeItMay { for request in requests { leaveByMistake(request.topic) } }
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
            case .refuse(let refusal): refuse(refusal, topic: request.topic, ref: ref)
            case .postpone(let refusal):
                isPostponed = true
                send(.error(refusal, topic: request.topic), ref: ref)
            }
        }
        // However many topics it names, it is one thing refused.
        if isPostponed { countRefusal() }
    }

    private func verdicts(_ requests: [SubscribeRequest]) -> [Verdict] {
        var room = limits.topicsPerConnectionMax - holdings.count - heldBesides
        var text = "a connection may hold \(limits.topicsPerConnectionMax) topics"
        if caller.isAnonymous, case let addressRoom = rules.addressRoom(address), addressRoom < room {
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

    /// Milliseconds to wait until the joins can be paid; `nil` when they have been.
    private mutating func payForJoins(_ count: Int) -> Int? {
        if caller.isService { return rules.charge(.joins(count), caller) }
        if let waitMs = joins.waitMs(for: count, nowMs: nowMs), waitMs > 0 { return waitMs }
        if let waitMs = rules.charge(.joins(count), caller) { return waitMs }
        return joins.take(count, nowMs: nowMs) ? nil : 1_000
    }

    /// The request waits for the answer whether the user is a member; what there is of the topic goes on meanwhile.
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

    /// The request has passed: once it is paid, what there is of the topic gives way to it.
    mutating func begin(_ wish: Wish, _ topic: Topic) {
        if rules.fault == .leavesBeforeItPays { giveWay(topic) }
        if let refusal = rules.payJoin(topic, caller, address) { return refused(wish, topic, refusal) }
        establish()
        giveWay(topic)
        if let replay = wish.replay { readReplay(replay, wish, topic) } else { enter(wish, topic) }
    }

    /// Joins the topic, or first what it follows.
    mutating func enter(_ wish: Wish, _ topic: Topic) {
        if isOwn(topic) { follow(wish, topic) } else { join(wish, topic) }
    }

    /// Leaves what there is of the topic, and answers the requests for it.
    private mutating func giveWay(_ topic: Topic) {
        let index = hold(topic)
        let older = holdings[index].wishes
        holdings[index].wishes = []
        if holdings[index].isLive || older.contains(where: { $0.step == .topic }) { actions.append(.leave(topic)) }
        holdings[index].isLive = false
        holdings[index].isTracked = false
        for wish in older { supersede(wish, topic) }
    }

    /// Joins the topic, which is paid; the holding has no other request.
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
        if rules.fault == .supersededIsSilent { return }
        refuse(SessionState.superseded, topic: topic, ref: wish.ref)
    }

    /// What sessions once did, for the simulation to find.
    private mutating func leaveByMistake(_ topic: Topic) {
        guard let index = index(of: topic), holdings[index].isLive else { return }
        holdings.remove(at: index)
        actions.append(.leave(topic))
        if followings?.topic == topic { endFollowings() }
    }

    // MARK: Unsubscribe

    mutating func unsubscribe(_ topic: Topic, ref: Reference?) {
        if let index = index(of: topic) {
            if rules.fault == .lastWordIsForgotten, holdings[index].waits(.membership) {
                return send(.unsubscribed(topic: topic), ref: ref)
            }
            let holding = holdings.remove(at: index)
            for wish in holding.wishes { supersede(wish, topic) }
            givenUp(holding)
        }
        send(.unsubscribed(topic: topic), ref: ref)
    }

    /// The right to a topic is gone: whoever waits for it is refused, and who has it is told that it ends.
    mutating func withdraw(_ topic: Topic, _ refusal: Refusal) {
        guard let index = index(of: topic) else { return }
        let holding = holdings.remove(at: index)
        for wish in holding.wishes { refuse(refusal, topic: topic, ref: wish.ref) }
        givenUp(holding)
        guard holding.isAcknowledged else { return }
        send(.unsubscribed(topic: topic), ref: nil)
        send(.error(refusal, topic: topic), ref: nil)
    }

    /// A topic is held no more: it is left, and perhaps followed again.
    private mutating func givenUp(_ holding: Holding) {
        if holding.isLive || holding.waits(.topic) { actions.append(.leave(holding.topic)) }
        if followings?.topic == holding.topic { return endFollowings() }
        followWaiting()
    }

    // MARK: From the topics

    /// The session is live on a topic; the client was told by the topic itself.
    mutating func joined(_ topic: Topic) {
        if let index = index(of: topic), let wish = holdings[index].take(.topic) {
            granted()
            holdings[index].isLive = true
            holdings[index].isAcknowledged = true
            if wish.presence { watch(topic) }
            guard followings?.topic == topic else { return }
            followings?.isHeard = true
            // A change of the set that came before the own topic was joined has told nobody.
            readFollows()
        } else {
            followed(topic)
        }
    }

    /// A topic could not be joined; the client is told, and also when that ends what it had.
    mutating func joinRefused(_ topic: Topic, _ refusal: Refusal) {
        guard let index = index(of: topic), let wish = holdings[index].take(.topic) else {
            return followRefused(topic)
        }
        refused(wish, topic, refusal)
    }

    /// A request has failed for good.
    ///
    /// What lives or is on its way goes on. What had to be left for the request is gone, and the client is told so.
    mutating func refused(_ wish: Wish, _ topic: Topic, _ refusal: Refusal) {
        defer { refuse(refusal, topic: topic, ref: wish.ref) }
        guard let index = index(of: topic), !holdings[index].isLive,
            !holdings[index].wishes.contains(where: { $0.step != .membership })
        else { return }
        if holdings[index].isAcknowledged {
            holdings[index].isAcknowledged = false
            if rules.fault != .lossIsSilent { send(.unsubscribed(topic: topic), ref: nil) }
        }
        if holdings[index].wishes.isEmpty { givenUp(holdings.remove(at: index)) }
    }

    /// Events of a topic were missed; of a followed one, the own topic's hole is told.
    mutating func missed(_ topic: Topic, _ position: Position?, _ reason: GapReason) {
        if followings?.owns(topic) == true {
            guard let own = followings?.topic else { return }
            return send(.gap(topic: own, position: nil, reason: reason), ref: nil)
        }
        // What was missed may have been a change of the set.
        if followings?.topic == topic { readFollows() }
        send(.gap(topic: topic, position: position, reason: reason), ref: nil)
    }

    // MARK: Rights

    /// A refreshed token may allow less than the one before.
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
