import Core
import EventLogs
import Operations
import Rights
import Service
import Sessions

/// Enforces lost rights: takes from a shard's sessions what tokens and memberships no longer grant.
///
/// Reported changes are checked at once. Every membership is also checked within each `membershipCheckMs`, since any
/// writer to Redis may change the set. Thread: the shard's.
final class RightsEnforcer {
    private let context: RightsContext
    /// Sessions whose memberships have still to be checked in this round.
    private var round: [Session] = []
    private var nextRoundMs: Int
    /// Number of sessions that one sweep checks.
    private var sessionsPerSweep = 1
    /// Whether the round asks the scripts that decide who may join.
    ///
    /// Only when changes may have been missed, since each question is a call of its own.
    private var asksScripts = false

    /// Whether a question had no answer, so that every membership has to be checked soon.
    private var hasMissed = false

    /// Sweeps of a round when changes may have been missed: a second and a half.
    private static let urgentSweeps = 6
    private static let sweepMs = 250

    init(_ context: RightsContext) {
        self.context = context
        nextRoundMs = context.clock.nowMs + context.limits.membershipCheckMs
    }

    /// Checks the sessions that a change may concern.
    func take(_ change: RightsChange) {
        if !change.revocations.isEmpty || change.keysReplaced { endWithdrawn(change) }
        if change.checksMemberships {
            asksScripts = true
            begin(over: RightsEnforcer.urgentSweeps)
        } else if !change.removals.isEmpty {
            var topics: [[UInt8]: [Topic]] = [:]
            for removal in change.removals { topics[removal.user, default: []].append(removal.topic) }
            check(context.sessions(), asksScripts: true) { user, topic in topics[user]?.contains(topic) == true }
        }
    }

    /// Continues the round, or begins the next one when it is due.
    ///
    /// Waits while the link is down: this shard's link may return later than the one by which the change was read.
    func sweep() {
        guard context.store.isReady else { return }
        if hasMissed {
            hasMissed = false
            asksScripts = true
            begin(over: RightsEnforcer.urgentSweeps)
        }
        if round.isEmpty, context.clock.nowMs >= nextRoundMs {
            nextRoundMs = context.clock.nowMs + context.limits.membershipCheckMs
            asksScripts = false
            begin(over: context.limits.membershipCheckMs / RightsEnforcer.sweepMs / 2)
        }
        guard !round.isEmpty else { return }
        let part = Array(round.suffix(sessionsPerSweep))
        round.removeLast(part.count)
        check(part, asksScripts: asksScripts) { _, _ in true }
    }

    /// Begins a round that ends after so many sweeps.
    private func begin(over sweeps: Int) {
        round = context.sessions()
        sessionsPerSweep = round.count / max(sweeps, 1) + 1
    }

    /// Ends the sessions of tokens and keys that are refused from now on.
    private func endWithdrawn(_ change: RightsChange) {
        let authenticator = context.gate.authenticator
        var withdrawn = Revocations()
        for revocation in change.revocations { withdrawn.add(revocation) }
        for session in context.sessions() {
            if change.keysReplaced, !authenticator.stillKnows(session.caller) {
                session.end(.replaced)
            } else if case .user(let identity) = session.caller, let failure = withdrawn.failure(for: identity) {
                session.end(failure)
            }
        }
    }

    /// Checks the sessions' memberships, and asks the scripts of topics whether the users may still be subscribed.
    private func check(_ sessions: [Session], asksScripts: Bool, _ isWanted: ([UInt8], Topic) -> Bool) {
        var holders: [Topic: [Session]] = [:]
        for session in sessions {
            guard case .user(let identity) = session.caller else { continue }
            for topic in session.topicsHeld where isWanted(identity.user, topic) {
                if asksScripts, context.topics.isPersonal(topic) { askScript(topic, session) }
                guard context.access.subscribe(topic, session.caller) == .askMembership else { continue }
                holders[topic, default: []].append(session)
            }
        }
        for (topic, sessions) in holders { check(topic, sessions) }
    }

    private func askScript(_ topic: Topic, _ session: Session) {
        guard let asker = session.asker else { return }
        context.topics.recheck(topic, asker) { [weak self] result in
            guard case .failure(let refusal) = result else { return }
            // A missing answer of Redis, or a fault of a script, takes no right away.
            if refusal.code == .unavailable || refusal.code == .internalError || refusal.code == .rateLimited {
                self?.hasMissed = refusal.code == .unavailable || self?.hasMissed == true
            } else {
                session.withdraw(topic, refusal)
            }
        }
    }

    private func check(_ topic: Topic, _ sessions: [Session]) {
        let users = sessions.map { session -> [UInt8] in
            guard case .user(let identity) = session.caller else { return [] }
            return identity.user
        }
        context.store.areMembers(topic, users) { [weak self] result in
            guard case .success(let areMembers) = result, areMembers.count == users.count,
                case .refuse(let refusal) = AccessPolicy.Decision.membership(false)
            else {
                self?.hasMissed = true
                return
            }
            for (session, isMember) in zip(sessions, areMembers) where !isMember { session.withdraw(topic, refusal) }
        }
    }
}
