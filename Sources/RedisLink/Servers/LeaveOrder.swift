/// The order in which a process leaves an old master: first the links that publish, then the link that receives.
///
/// The old master may still accept a publish of this process. The receiving link stays there until no publish of this
/// process can arrive there any more, so that the process misses none of its own events. Pure.
struct LeaveOrder {
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
    init(followers: Int, patienceMs: Int) {
        self.followers = followers
        self.patienceMs = patienceMs
    }

    /// Whether the receiving link may take a map now; `present` is the map that it has.
    mutating func mayTake(_ map: ServerMap, after present: ServerMap?, nowMs: Int) -> Bool {
        let new = map.masters.first?.endpoint
        // A second map at once must not let the receiving link leave before the others.
        if let waiting, waiting.endpoint == new { return false }
        guard let old = present?.masters.first?.endpoint, let new, old != new else {
            waiting = nil
            return true
        }
        waiting = Waiting(
            endpoint: new, generation: map.generation, followers: Set(0..<followers), sinceMs: nowMs)
        return false
    }

    /// Whether the receiving link may follow, because the last follower has taken the map of that generation.
    mutating func followed(by follower: Int, generation: Int) -> Bool {
        guard let awaited = waiting, generation >= awaited.generation else { return false }
        waiting?.followers.remove(follower)
        return end(waiting?.followers.isEmpty == true)
    }

    /// Whether the receiving link may follow, because the others had time enough; called often.
    mutating func isOverdue(nowMs: Int) -> Bool {
        end(waiting.map { nowMs - $0.sinceMs >= patienceMs } ?? false)
    }

    private mutating func end(_ isOver: Bool) -> Bool {
        if isOver { waiting = nil }
        return isOver
    }
}
