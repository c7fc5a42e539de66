/// The order in which a process leaves an old master: first all links that publish, then all links that receive.
///
/// The old master may still accept a publish of this process. The receiving links stay there until no publish of this
/// process can arrive there any more, so that the process misses none of its own events. Pure.
public struct LeaveOrder: Sendable {
    private struct Waiting {
        let endpoint: RedisURL.Endpoint
        let generation: Int
        var followers: Set<Int>
        let sinceMs: Int
    }

    private let followers: Int
    private let patienceMs: Int
    private var waiting: Waiting?

    /// `followers` is the number of threads with links that publish; `patienceMs` bounds the wait for them.
    public init(followers: Int, patienceMs: Int) {
        self.followers = followers
        self.patienceMs = patienceMs
    }

    /// Whether the receiving links may take a placement now; `present` is the one that they have.
    public mutating func mayTake(_ placement: Placement, after present: Placement?, nowMs: Int) -> Bool {
        // A master of a cluster that has lost its slots refuses publishes on their channels.
        guard case .servers(let new) = placement else { return true }
        guard case .servers(let old)? = present else { return mayTake(new, after: nil, nowMs: nowMs) }
        return mayTake(new, after: old, nowMs: nowMs)
    }

    /// Whether they may take a map now; `present` is the map that they have.
    mutating func mayTake(_ map: ServerMap, after present: ServerMap?, nowMs: Int) -> Bool {
        let new = map.masters.first?.endpoint
        // A second map at once must not let the receiving links leave before the others.
        if let waiting, waiting.endpoint == new { return false }
        guard let old = present?.masters.first?.endpoint, let new, old != new else {
            waiting = nil
            return true
        }
        waiting = Waiting(
            endpoint: new, generation: map.generation, followers: Set(0..<followers), sinceMs: nowMs)
        return false
    }

    /// Whether the receiving links wait for those that publish.
    public var isWaiting: Bool { waiting != nil }

    /// Whether the receiving links may follow, because the last follower has taken the map of that generation.
    public mutating func followed(by follower: Int, generation: Int) -> Bool {
        guard let awaited = waiting, generation >= awaited.generation else { return false }
        waiting?.followers.remove(follower)
        return end(waiting?.followers.isEmpty == true)
    }

    /// Whether the receiving links may follow, because the others had time enough; called often.
    public mutating func isOverdue(nowMs: Int) -> Bool {
        end(waiting.map { nowMs - $0.sinceMs >= patienceMs } ?? false)
    }

    private mutating func end(_ isOver: Bool) -> Bool {
        if isOver { waiting = nil }
        return isOver
    }
}
