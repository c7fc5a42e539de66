import Core
import Dialects
import Rights

/// A session's budget for following; kept when following stops, so that starting again is not free.
struct FollowAllowance {
    var reads: TokenBucket
    var joins: TokenBucket
    /// The number of the last read, by which answers are matched to reads.
    var number = 0

    init(_ rules: SessionRules, nowMs: Int) {
        reads = TokenBucket(rules.followReadRate, nowMs: nowMs)
        joins = TokenBucket(rules.followJoinRate, nowMs: nowMs)
    }
}

/// Following: the set is kept while the own topic is held, and only the difference is joined and left.
extension SessionState {
    /// Milliseconds until a followed topic that could not be joined is tried again.
    private static let retryMs = 1_000

    /// Whether the topic is the user's own and its namespace follows others.
    func isOwn(_ topic: Topic) -> Bool {
        guard case .user(let identity) = caller, !caller.isService else { return false }
        return rules.access.policy(of: topic)?.follows == true && topic.id.elementsEqual(identity.user)
    }

    /// Joins the followed topics, then the topic itself, so that no event is missed after `subscribed`.
    mutating func follow(_ wish: Wish, _ topic: Topic) {
        guard followings?.topic == topic else {
            endFollowings()
            followings = Followings(topic)
            wait(wish, topic)
            return readFollows()
        }
        if followings?.isStarted == true { join(wish, topic) } else { wait(wish, topic) }
    }

    private mutating func wait(_ wish: Wish, _ topic: Topic) {
        guard let index = index(of: topic) else { return }
        var next = wish
        next.step = .followings
        holdings[index].wishes.append(next)
    }

    // MARK: The set

    /// Reads the set: now, after the read under way, or as soon as the budget allows it.
    mutating func readFollows() {
        guard let reading = followings?.reading else { return }
        switch reading {
        case .underway(let number, _): followings?.reading = .underway(number: number, isStale: true)
        case .due: break
        case .none:
            if let waitMs = payForRead() {
                if followings?.isStarted == false {
                    return cannotStart(SessionState.tooManyFollows(waitMs))
                }
                let dueMs = nowMs + waitMs
                followings?.reading = .due(atMs: dueMs)
            } else {
                ask()
            }
        }
    }

    private mutating func ask() {
        guard let topic = followings?.topic else { return }
        var allowance = followAllowance ?? FollowAllowance(rules, nowMs: nowMs)
        allowance.number &+= 1
        followAllowance = allowance
        followings?.reading = .underway(number: allowance.number, isStale: false)
        actions.append(.readFollows(topic, number: allowance.number))
    }

    private static func tooManyFollows(_ waitMs: Int) -> Refusal {
        Refusal(.rateLimited, "followed topics are read or joined too often", retryAfterMs: max(waitMs, 1))
    }

    /// Takes the result of reading the set.
    mutating func follows(_ number: Int, _ result: Result<[Topic], Refusal>) {
        guard case .underway(number, let isStale) = followings?.reading else { return }
        followings?.reading = .none
        switch result {
        case .failure(let refusal):
            if followings?.isStarted == false { return cannotStart(refusal) }
            let dueMs = nowMs + SessionState.retryMs
            followings?.reading = .due(atMs: dueMs)
        case .success(let topics):
            if isStale { readFollows() }
            // The set is data like any other: it grants no right that the user does not have.
            let wanted = topics.filter { $0 != followings?.topic && rules.access.subscribe($0, caller) == .allow }
            for topic in followings?.take(wanted) ?? [] { actions.append(.leave(topic)) }
            followWaiting()
        }
    }

    /// Joins the followed topics that wait; the budget is charged once for all of them.
    mutating func followWaiting() {
        guard let waiting = followings?.waiting(except: { index(of: $0) != nil }) else { return }
        followings?.retryMs = Int.max
        if !waiting.isEmpty, let waitMs = payToFollow(waiting.count) {
            if followings?.isStarted == false { return cannotStart(SessionState.tooManyFollows(waitMs)) }
            let retryMs = nowMs + waitMs
            followings?.retryMs = retryMs
            return
        }
        for topic in waiting {
            followings?.joins(topic)
            actions.append(.follow(topic))
        }
        startIfSettled()
    }

    private mutating func payForRead() -> Int? {
        var allowance = followAllowance ?? FollowAllowance(rules, nowMs: nowMs)
        defer { followAllowance = allowance }
        if let waitMs = allowance.reads.waitMs(of: rules.followReadRate, nowMs: nowMs), waitMs > 0 { return waitMs }
        if let waitMs = rules.budget.charge(.readFollows, caller) { return waitMs }
        return allowance.reads.take(of: rules.followReadRate, nowMs: nowMs) ? nil : SessionState.retryMs
    }

    private mutating func payToFollow(_ count: Int) -> Int? {
        var allowance = followAllowance ?? FollowAllowance(rules, nowMs: nowMs)
        defer { followAllowance = allowance }
        let rate = rules.followJoinRate
        if let waitMs = allowance.joins.waitMs(for: count, of: rate, nowMs: nowMs), waitMs > 0 { return waitMs }
        if let waitMs = rules.budget.charge(.joins(count), caller) { return waitMs }
        return allowance.joins.take(count, of: rate, nowMs: nowMs) ? nil : SessionState.retryMs
    }

    // MARK: Beginning and end

    /// Joins the own topic once everything followed at first is live or has failed.
    mutating func startIfSettled() {
        guard let followings, !followings.isStarted, followings.isSettled else { return }
        self.followings?.isStarted = true
        guard let index = index(of: followings.topic), let wish = holdings[index].take(.followings) else { return }
        join(wish, followings.topic)
    }

    /// The set could not be read or joined: the subscription to the own topic is refused, too.
    private mutating func cannotStart(_ refusal: Refusal) {
        guard let topic = followings?.topic else { return }
        endFollowings()
        guard let index = index(of: topic), let wish = holdings[index].take(.followings) else { return }
        refused(wish, topic, refusal)
    }

    mutating func endFollowings() {
        let owned = followings?.owned ?? []
        followings = nil
        for topic in owned { actions.append(.leave(topic)) }
    }

    /// Leaves the followed topics that a refreshed token no longer grants.
    mutating func unfollowForbidden() {
        guard let standings = followings?.standings.keys else { return }
        let allowed = standings.filter { rules.access.subscribe($0, caller) == .allow }
        for topic in followings?.take(allowed) ?? [] { actions.append(.leave(topic)) }
    }

    // MARK: From the topics

    /// The session is live on a followed topic.
    mutating func followed(_ topic: Topic) {
        guard let own = followings?.topic, let isLate = followings?.joined(topic) else { return }
        if isLate, followings?.isStarted == true { send(.gap(topic: own, position: nil, reason: .missed), ref: nil) }
        startIfSettled()
    }

    /// A followed topic could not be joined.
    ///
    /// It is tried again; a `gap` is sent when that succeeds.
    mutating func followRefused(_ topic: Topic) {
        guard followings?.refused(topic) == true else { return }
        let (rate, nowMs) = (rules.followJoinRate, nowMs)
        followAllowance?.joins.giveBack(of: rate, nowMs: nowMs)
        followings?.retryMs = nowMs + SessionState.retryMs
        startIfSettled()
    }

    /// Runs a read or a retry that is due.
    mutating func followDue() {
        guard let followings else { return }
        if case .due(let atMs) = followings.reading, nowMs >= atMs {
            self.followings?.reading = .none
            readFollows()
        }
        if nowMs >= followings.retryMs { followWaiting() }
    }
}
