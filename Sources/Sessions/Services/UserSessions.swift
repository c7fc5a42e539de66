/// The open sessions of a shard by their user: a question about one user looks at no others.
///
/// Thread: the shard's.
public final class UserSessions {
    private var sessions: [[UInt8]: Few<Session>] = [:]

    /// Empty.
    init() {}

    /// The number of a user's open sessions: the place at which a walk over them begins.
    public func count(of user: [UInt8]) -> Int { sessions[user]?.count ?? 0 }

    /// Visits at most `count` sessions of a user below a place; returns the place at which the walk continues.
    ///
    /// A walk ends at 0. It goes downwards, since the last session takes the place of one that ends. So none that stays
    /// is left out, and some may be visited twice.
    public func visit(_ user: [UInt8], below place: Int, count: Int, _ visit: (Session) -> Void) -> Int {
        guard let all = sessions[user] else { return 0 }
        let from = min(place, all.count)
        let to = max(0, from - count)
        for place in stride(from: from - 1, through: to, by: -1) { visit(all[place]) }
        return to
    }

    /// A session has a user from now on.
    func began(_ session: Session, of user: [UInt8]) {
        session.userPlace = count(of: user)
        sessions[user, default: Few()].append(session)
    }

    /// A session of a user has ended.
    ///
    /// It knows its place: a user may end many thousand sessions at once, and each would be looked for among all.
    func ended(_ session: Session, of user: [UInt8]) {
        guard let place = session.userPlace else { return }
        session.userPlace = nil
        sessions[user]?.removeSwapping(at: place)
        let left = count(of: user)
        if place < left { sessions[user]?[place].userPlace = place }
        if left == 0 { sessions[user] = nil }
    }
}

@available(*, unavailable)
extension UserSessions: Sendable {}
