import Core

/// The votes of some users: the next one, and those under way with their due times.
///
/// A connection's commands are answered in the order in which they were sent (docs/protocol.md), so an answer belongs
/// to the oldest.
struct VoteLedger {
    /// A user's vote.
    struct Vote: Equatable {
        var user: Int
        var track: Int
        var isUp: Bool
        /// The number of the user's vote, from 1.
        var ref: Int
    }

    private struct User {
        var sent = 0
        /// When the votes under way were due, oldest first.
        var dueUs = Ring<Int>()
        var isHere = true
    }

    let window: Int
    /// Votes without an answer yet.
    private(set) var underWay = 0
    private var users: [User]
    /// Users with room for another vote, once for each; some may have disconnected.
    private var free = Ring<Int>()

    static let tracks = 20

    /// No votes yet; `window` is how many votes a user may have under way.
    init(users count: Int, window: Int) {
        self.window = window
        users = Array(repeating: User(), count: count)
        for _ in 0..<window {
            for user in 0..<count { free.append(user) }
        }
    }

    /// The next vote of a user with room for one, in turn; `nil` when no user has room.
    mutating func begin(dueUs: Int) -> Vote? {
        while let user = free.popFirst() {
            guard users[user].isHere else { continue }
            let count = users[user].sent
            users[user].sent = count + 1
            users[user].dueUs.append(dueUs)
            underWay += 1
            // Through all tracks with one vote, then through all with the other.
            //
            // Each differs from the user's last vote on the track, so each changes something.
            return Vote(
                user: user, track: (user + count) % VoteLedger.tracks, isUp: count / VoteLedger.tracks % 2 == 0,
                ref: count + 1)
        }
        return nil
    }

    /// When the answered vote was due; `nil` when the user has none under way.
    mutating func answered(_ user: Int) -> Int? {
        guard let dueUs = users[user].dueUs.popFirst() else { return nil }
        underWay -= 1
        free.append(user)
        return dueUs
    }

    /// A user's connection has ended: no answer will arrive.
    mutating func left(_ user: Int) {
        underWay -= users[user].dueUs.count
        users[user].dueUs.removeAll()
        users[user].isHere = false
    }
}
