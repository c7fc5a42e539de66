import Core

/// The payer of entries: the user or service that is charged for them.
struct RelayPayer: Hashable {
    /// The name as in ``CommandCaller/payer``; empty when unknown.
    let name: [UInt8]
    /// Whether calls of the worker caused the entries.
    let isFollowUp: Bool

    /// Whether the payer is exempt from the budget that all users share.
    var isService: Bool { name.starts(with: "service:".utf8) }
    /// The payer's counterpart: the entries of its own commands, or those that they cause.
    var other: RelayPayer { RelayPayer(name: name, isFollowUp: !isFollowUp) }
}

/// The entries of the outbox that were read and are not done, and the order in which to do them.
///
/// Payers take turns, one entry a turn, services and users alternately. Entries of one payer for one target run one
/// after another, in their order. A failed entry that is retried delays only those. A payer's own entries wait while
/// too many entries that they caused are left. A value of facts: no I/O; times are monotonic milliseconds.
struct RelayQueue<Item> {
    /// A queue whose entries keep their order.
    struct Line: Hashable {
        let payer: RelayPayer
        /// A hash of the entry's target.
        let target: UInt64
    }

    /// An entry to do now.
    struct Entry {
        let line: Line
        /// The action.
        let item: Item
    }

    private struct Waiting {
        var items = Ring<Item>()
        var isInFlight = false
        /// The earliest time of the retry after a failure.
        var retryMs: Int?
        var failures = 0
    }

    private struct Turn {
        /// Targets whose first entry may be done now.
        var ready = Ring<UInt64>()
        /// Entries added and not done, and those of them in flight.
        var count = 0
        var inFlight = 0
        /// Whether the payer is in its ring.
        var isQueued = false
        /// Whether the payer waits for entries that it has caused.
        var isHeld = false
    }

    private let inFlightMax: Int
    private let retryMinMs: Int
    private let retryMaxMs: Int
    private let payerInFlightMax: Int
    private let followUpsMax: Int
    private var lines: [Line: Waiting] = [:]
    private var turns: [RelayPayer: Turn] = [:]
    private var services = Ring<RelayPayer>()
    private var users = Ring<RelayPayer>()
    private var isServicesTurn = true
    /// Lines that wait for a retry, and the earliest of their times.
    private var paused: Set<Line> = []
    private var pausedMs = Int.max
    /// Entries in flight.
    private(set) var inFlight = 0
    /// Entries read and not done.
    private(set) var count = 0

    /// At most `payerInFlightMax` entries of one payer are in flight at once.
    ///
    /// Those of its commands wait while `followUpsMax` of the entries that they caused are left.
    init(inFlightMax: Int, retryMinMs: Int, retryMaxMs: Int, payerInFlightMax: Int, followUpsMax: Int) {
        self.inFlightMax = inFlightMax
        self.retryMinMs = retryMinMs
        self.retryMaxMs = retryMaxMs
        self.payerInFlightMax = payerInFlightMax
        self.followUpsMax = followUpsMax
    }

    /// Whether a user's entry could be done now.
    var hasUsers: Bool { !users.isEmpty }

    /// Adds an entry that was read after all others of its payer and target.
    mutating func add(_ entry: Entry) {
        count += 1
        turns[entry.line.payer, default: Turn()].count += 1
        if lines[entry.line] == nil {
            lines[entry.line] = Waiting()
            becomeReady(entry.line)
        }
        lines[entry.line]?.items.append(entry.item)
    }

    /// The next entry to do; it is in flight from then on.
    ///
    /// - Parameter usersMay: Whether an entry of a user may be begun.
    mutating func next(nowMs: Int, usersMay: Bool) -> Entry? {
        guard inFlight < inFlightMax else { return nil }
        wake(nowMs)
        let entry =
            isServicesTurn ? nextOfServices() ?? nextOfUsers(usersMay) : nextOfUsers(usersMay) ?? nextOfServices()
        guard let entry else { return nil }
        isServicesTurn = !entry.line.payer.isService
        lines[entry.line]?.isInFlight = true
        inFlight += 1
        return entry
    }

    /// The time of the next retry; `nil` when none waits or no more may be in flight.
    var nextDueMs: Int? {
        guard inFlight < inFlightMax, !paused.isEmpty else { return nil }
        return pausedMs
    }

    /// The line's entry in flight is done, or given up.
    mutating func finished(_ line: Line) {
        guard var waiting = lines[line], waiting.isInFlight else { return }
        inFlight -= 1
        count -= 1
        (waiting.isInFlight, waiting.failures, waiting.retryMs) = (false, 0, nil)
        _ = waiting.items.popFirst()
        if waiting.items.isEmpty {
            lines[line] = nil
        } else {
            lines[line] = waiting
            becomeReady(line)
        }
        let left = (turns[line.payer]?.count ?? 1) - 1
        turns[line.payer]?.count = left
        landed(line.payer)
        if left == 0 { turns[line.payer] = nil }
        if line.payer.isFollowUp && left < followUpsMax { release(line.payer.other) }
    }

    /// The line's entry in flight failed; it is retried after a pause that doubles.
    mutating func failed(_ line: Line, nowMs: Int) {
        guard var waiting = lines[line], waiting.isInFlight else { return }
        inFlight -= 1
        waiting.isInFlight = false
        let retryMs = nowMs + min(retryMinMs << min(waiting.failures, 16), retryMaxMs)
        waiting.retryMs = retryMs
        waiting.failures += 1
        lines[line] = waiting
        paused.insert(line)
        pausedMs = min(pausedMs, retryMs)
        landed(line.payer)
    }

    /// An entry of the payer is no longer in flight.
    private mutating func landed(_ payer: RelayPayer) {
        guard let inFlight = turns[payer]?.inFlight else { return }
        turns[payer]?.inFlight = inFlight - 1
        queue(payer)
    }

    private mutating func wake(_ nowMs: Int) {
        guard pausedMs <= nowMs else { return }
        pausedMs = Int.max
        for line in paused {
            let retryMs = lines[line]?.retryMs ?? 0
            if retryMs <= nowMs {
                paused.remove(line)
                becomeReady(line)
            } else {
                pausedMs = min(pausedMs, retryMs)
            }
        }
    }

    private mutating func becomeReady(_ line: Line) {
        turns[line.payer, default: Turn()].ready.append(line.target)
        queue(line.payer)
    }

    private mutating func queue(_ payer: RelayPayer) {
        guard let turn = turns[payer], !turn.isQueued, !turn.isHeld, !turn.ready.isEmpty,
            turn.inFlight < payerInFlightMax
        else { return }
        turns[payer]?.isQueued = true
        if payer.isService { services.append(payer) } else { users.append(payer) }
    }

    /// The entries that a payer has caused are done: its own entries resume.
    private mutating func release(_ payer: RelayPayer) {
        guard turns[payer]?.isHeld == true else { return }
        turns[payer]?.isHeld = false
        queue(payer)
    }

    private mutating func nextOfServices() -> Entry? {
        while let payer = services.popFirst() {
            if let entry = take(payer) { return entry }
        }
        return nil
    }

    private mutating func nextOfUsers(_ usersMay: Bool) -> Entry? {
        guard usersMay else { return nil }
        while let payer = users.popFirst() {
            if let entry = take(payer) { return entry }
        }
        return nil
    }

    /// The payer's next entry; `nil` when it has to wait.
    private mutating func take(_ payer: RelayPayer) -> Entry? {
        turns[payer]?.isQueued = false
        if !payer.isFollowUp && (turns[payer.other]?.count ?? 0) >= followUpsMax {
            turns[payer]?.isHeld = true
            return nil
        }
        guard let turn = turns[payer], turn.inFlight < payerInFlightMax,
            let target = turns[payer]?.ready.popFirst()
        else { return nil }
        turns[payer]?.inFlight = turn.inFlight + 1
        queue(payer)
        let line = Line(payer: payer, target: target)
        guard let item = lines[line]?.items.first else { return nil }
        return Entry(line: line, item: item)
    }
}
