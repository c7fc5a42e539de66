import Core
import Rights

/// What became of rights that sessions rest on; every shard looks at its sessions.
struct RightsChange: Sendable {
    /// A user who was taken out of a topic's members.
    struct Removal: Sendable, Equatable {
        let topic: Topic
        let user: [UInt8]
    }

    /// Tokens that were withdrawn.
    var revocations: [Revocation] = []
    /// Members who were taken out.
    var removals: [Removal] = []
    /// Whether the keys of tokens and services were read anew.
    var keysReplaced = false
    /// Whether every membership is to be looked at now: changes may have been missed.
    var checksMemberships = false

    /// Whether there is nothing to look at.
    var isEmpty: Bool { revocations.isEmpty && removals.isEmpty && !keysReplaced && !checksMemberships }
}

/// A page of changes as Redis keeps them.
struct RightsPage: Sendable {
    /// The place of the newest revocation.
    var top = 0
    var revocations: [Revocation] = []
    var removals: [RightsChange.Removal] = []
    /// The places of the last ones of this page; as asked for when it is empty.
    var position = RightsPoll.Position()
    /// Whether more may follow at once.
    var isFull = false
}

/// When a node asks Redis for changes of rights, and from where on.
///
/// Changes are read rather than heard: a reader that was away reads on where it stopped, whoever failed meanwhile. A
/// value: it takes what happened and the time.
struct RightsPoll {
    /// The places up to which changes were read.
    struct Position: Sendable, Equatable {
        var revoked = 0
        var removed = 0
    }

    /// What to do after a page.
    struct Outcome: Equatable {
        /// Whether everything that was there has been read.
        var isComplete: Bool
        /// Whether removals may have been missed: nobody asked for long, or the clock or the data of Redis went back.
        var checksMemberships: Bool
    }

    private(set) var position = Position()
    private let intervalMs: Int
    private var isAsking = false
    private var nextMs = 0
    /// When the last question was answered; `nil` after a failure.
    private var answeredMs: Int?
    /// When a question was last answered.
    private var heardMs: Int?

    /// Removals are remembered for a minute; who has not asked for half of that looks at everything.
    private static let trustMs = 30_000

    init(intervalMs: Int) {
        self.intervalMs = intervalMs
    }

    /// Whether to ask now; counts as asked.
    mutating func asks(nowMs: Int) -> Bool {
        guard !isAsking, nowMs >= nextMs else { return false }
        isAsking = true
        nextMs = nowMs + intervalMs
        return true
    }

    /// Asks at the next occasion: the link is new.
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
            // Redis has gone back to older data; what is there may differ from what was read.
            position.revoked = 0
            nextMs = 0
        }
        if page.isFull { nextMs = 0 }
        return Outcome(isComplete: nextMs > 0, checksMemberships: !isContinued || isBack)
    }

    /// Milliseconds since the last answer, or since `startMs` while there was none.
    func ageMs(nowMs: Int, startMs: Int) -> Int { nowMs - max(heardMs ?? startMs, startMs) }

    /// There was no answer, or not everybody could be told of it: the same is asked again.
    mutating func failed() {
        isAsking = false
        answeredMs = nil
    }
}
