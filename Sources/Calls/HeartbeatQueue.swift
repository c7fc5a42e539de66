import Core

/// The schedule of heartbeats for users with a live connection.
///
/// A heartbeat is due at once when the first connection opens, then at every interval until the last has closed. All
/// users wait equally long, so a queue in the order of arrival is one in the order of need. A step costs the same
/// however many users there are.
struct HeartbeatQueue {
    private struct Presence {
        var connections: Int
        /// Distinguishes this stay from an earlier one, whose turn may still be queued.
        let stay: Int
        /// Whether the stay has had a heartbeat.
        var hasBeaten = false
    }

    private struct Turn {
        let user: [UInt8]
        let stay: Int
        let dueMs: Int
    }

    private let intervalMs: Int
    /// Whether users without a live connection any more are noted.
    private let notesDepartures: Bool
    private var present: [[UInt8]: Presence] = [:]
    /// Users without a heartbeat so far.
    private var newcomers = Ring<Turn>()
    private var turns = Ring<Turn>()
    /// Users with a heartbeat whose last connection was closed, each once.
    private var departed = Ring<[UInt8]>()
    private var isDeparted: Set<[UInt8]> = []
    private var stays = 0

    init(intervalMs: Int, notesDepartures: Bool = false) {
        self.intervalMs = intervalMs
        self.notesDepartures = notesDepartures
    }

    /// Number of users with a live connection.
    var count: Int { present.count }

    /// A connection of the user was opened.
    mutating func came(_ user: [UInt8], nowMs: Int) {
        guard present[user] == nil else {
            present[user]?.connections += 1
            return
        }
        stays += 1
        present[user] = Presence(connections: 1, stay: stays)
        newcomers.append(Turn(user: user, stay: stays, dueMs: nowMs))
    }

    /// A connection of the user was closed.
    mutating func left(_ user: [UInt8]) {
        guard let presence = present[user] else { return }
        guard presence.connections == 1 else {
            present[user]?.connections = presence.connections - 1
            return
        }
        present[user] = nil
        // A user without a heartbeat was shown to nobody, and one who comes and goes costs one call for all of it.
        guard notesDepartures, presence.hasBeaten, isDeparted.insert(user).inserted else { return }
        departed.append(user)
    }

    /// At most `max` users who had a heartbeat and have no live connection any more.
    mutating func departures(max: Int) -> [[UInt8]] {
        var users: [[UInt8]] = []
        while users.count < max, let user = departed.popFirst() {
            isDeparted.remove(user)
            guard present[user] != nil else {
                users.append(user)
                continue
            }
            // A user who is back still counts as shown, also before the next heartbeat.
            present[user]?.hasBeaten = true
        }
        return users
    }

    /// At most `max` users whose turn it is; each has its next turn an interval from now.
    mutating func due(nowMs: Int, max: Int) -> [[UInt8]] {
        var users: [[UInt8]] = []
        while users.count < max, let turn = nextTurn(nowMs) {
            guard present[turn.user]?.stay == turn.stay else { continue }
            users.append(turn.user)
            present[turn.user]?.hasBeaten = true
            turns.append(Turn(user: turn.user, stay: turn.stay, dueMs: nowMs + intervalMs))
        }
        return users
    }

    /// Users with a further turn have precedence: a crowd of newcomers must not make them late.
    private mutating func nextTurn(_ nowMs: Int) -> Turn? {
        if let first = turns.first, first.dueMs <= nowMs { return turns.popFirst() }
        return newcomers.popFirst()
    }
}
