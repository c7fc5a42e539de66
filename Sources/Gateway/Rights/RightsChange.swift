import Core
import Rights

/// A change of rights on which sessions rest; every shard checks its sessions.
struct RightsChange: Sendable {
    /// A user who was removed from a topic's members.
    struct Removal: Sendable, Equatable {
        let topic: Topic
        let user: [UInt8]
    }

    /// Tokens that were revoked.
    var revocations: [Revocation] = []
    /// Members who were removed.
    var removals: [Removal] = []
    /// Whether the keys of tokens and services were read again.
    var keysReplaced = false
    /// Whether every membership has to be checked now, since changes may have been missed.
    var checksMemberships = false

    /// Whether there is nothing to check.
    var isEmpty: Bool { revocations.isEmpty && removals.isEmpty && !keysReplaced && !checksMemberships }
}

/// A page of changes from Redis.
struct RightsPage: Sendable {
    /// The place of the newest revocation in Redis.
    var top = 0
    var revocations: [Revocation] = []
    var removals: [RightsChange.Removal] = []
    /// The places of the last changes of this page; unchanged when it is empty.
    var position = RightsPoll.Position()
    /// Whether more may follow at once.
    var isFull = false
}

/// Schedule and position of a node's reads of changes of rights.
///
/// Changes are read, not received: after any failure the reader continues where it stopped. A value: it takes inputs
/// and the time.
struct RightsPoll {
    /// The places up to which changes have been read.
    struct Position: Sendable, Equatable {
        var revoked = 0
        var removed = 0
    }

    /// The conclusions from a page.
    struct Outcome: Equatable {
        /// Whether all changes have been read.
        var isComplete: Bool
        /// Whether removals may have been missed: no read for long, or the clock or the data of Redis went back.
        var checksMemberships: Bool
    }

    private(set) var position = Position()
    private let intervalMs: Int
    private var isAsking = false
    private var nextMs = 0
    /// When the last read was answered, monotonic milliseconds; `nil` after a failure.
    private var answeredMs: Int?
    /// When a read was last answered, monotonic milliseconds.
    private var heardMs: Int?

    /// Redis keeps removals for a minute; after half of that without a read, every membership is checked.
    private static let trustMs = 30_000

    init(intervalMs: Int) {
        self.intervalMs = intervalMs
    }

    /// Whether to read now; true counts as a read.
    mutating func asks(nowMs: Int) -> Bool {
        guard !isAsking, nowMs >= nextMs else { return false }
        isAsking = true
        nextMs = nowMs + intervalMs
        return true
    }

    /// Makes the next read due at once, since the link is new.
    mutating func linkIsNew() {
        isAsking = false
        nextMs = 0
    }

    /// Takes an answer.
    mutating func took(_ page: RightsPage, nowMs: Int) -> Outcome {
        isAsking = false
        let isContinued = answeredMs.map { nowMs - $0 < RightsPoll.trustMs } ?? false
        answeredMs = nowMs
        heardMs = nowMs
        let isBack = page.top < page.position.revoked || page.position.removed < position.removed
        position = page.position
        if page.top < position.revoked {
            // Redis has gone back to older data, which may differ from the data already read.
            position.revoked = 0
            nextMs = 0
        }
        if page.isFull { nextMs = 0 }
        return Outcome(isComplete: nextMs > 0, checksMemberships: !isContinued || isBack)
    }

    /// Milliseconds since the last answer, or since `startMs` while there was none.
    func ageMs(nowMs: Int, startMs: Int) -> Int { nowMs - max(heardMs ?? startMs, startMs) }

    /// The read failed, or a shard could not be notified: the same changes are read again.
    mutating func failed() {
        isAsking = false
        answeredMs = nil
    }
}
