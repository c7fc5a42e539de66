public import Core

/// The record of what became of the sessions of one shard: bounded in bytes, and of the last hour.
///
/// A delivery writes nothing here. The position at the subscribe, and the position and the queue at the time of a
/// question or of the close, tell what was delivered. Thread: the shard's.
public final class SessionTrace {
    /// The milliseconds that an entry is kept.
    public static let keepMs = 3_600_000

    private(set) var ring: TraceRing
    private var sessions: UInt32 = 0
    /// Sessions that have begun and not ended, also while nothing is kept.
    public private(set) var openCount = 0
    private let keepMs: Int
    let nowMs: () -> Int

    /// A session that ends is named again unless this part of the time has not passed since it began.
    private static let namingsInTime = 60

    /// Keeps at most `bytesMax` bytes, 0 for nothing; `nowMs` is the shard's clock, monotonic milliseconds.
    public init(bytesMax: Int, keepMs: Int = SessionTrace.keepMs, nowMs: @escaping () -> Int) {
        ring = TraceRing(bytesMax: bytesMax, keepMs: keepMs, nowMs: nowMs())
        self.keepMs = max(keepMs, 1)
        self.nowMs = nowMs
    }

    /// Whether anything is kept.
    public var isOn: Bool { ring.isOn }

    /// The time from which on nothing is missing, monotonic milliseconds.
    ///
    /// The name of a session that has ended may be older than its end by ``namingMs``.
    public var sinceMs: Int { max(ring.sinceMs, nowMs() - keepMs + namingMs) }

    /// Bytes that the record takes.
    public var byteCount: Int { ring.byteCount }

    private var namingMs: Int { keepMs / SessionTrace.namingsInTime }
    private var period: UInt32 { UInt32(truncatingIfNeeded: nowMs() / keepMs) }

    // MARK: Writing

    /// Notes a new session; returns its number, which is 1 or more.
    public func opened(_ caller: TraceEntry.Caller, name: [UInt8], address: IPAddress?, dialect: [UInt8]) -> UInt32 {
        sessions = sessions == UInt32.max ? 1 : sessions + 1
        openCount += 1
        write(.opened(caller, name: name, address: address, dialect: dialect, sinceMs: nowMs()), sessions)
        return sessions
    }

    /// Notes a change of a session, as far as its allowance goes.
    public func note(
        _ change: @autoclosure () -> TraceEntry.Change, of session: UInt32, _ allowance: inout TraceAllowance
    ) {
        let period = period
        guard ring.isOn, !allowance.isSpent(in: period) else { return }
        let change = change()
        switch allowance.take(change.kind, in: period) {
        case .kept: write(change, session)
        case .last: write(.full, session)
        case .dropped: break
        }
    }

    /// Notes the end of a session, which has an allowance of its own for the topics that are left by it.
    ///
    /// A session of some age is named again: so its end is found for as long as it is kept.
    public func ended(
        _ reason: CloseReason, of session: UInt32, since openedMs: Int, _ allowance: inout TraceAllowance,
        naming: () -> [TraceEntry.Change]
    ) {
        openCount -= 1
        guard ring.isOn else { return }
        if nowMs() - openedMs >= namingMs { for change in naming() { write(change, session) } }
        write(.closed(reason), session)
        allowance = TraceAllowance()
    }

    /// Notes a `gap` that all members of a topic received.
    public func gap(_ topic: Topic, from: Position?, to: Position, isReset: Bool) {
        write(.gap(topic, from: from, to: to, isReset: isReset), 0)
    }

    private func write(_ change: TraceEntry.Change, _ session: UInt32) {
        ring.append(TraceEntry(session: session, atMs: nowMs(), change))
    }

    /// Drops entries that are too old; called now and then.
    public func sweep() { ring.forget(nowMs: nowMs()) }

    // MARK: Questions

    /// Begins a search for the newest `limit` sessions that fit; `about` leaves out what concerns other topics.
    public func search(_ filter: TraceSearch.Filter, about: Topic? = nil, limit: Int) -> TraceSearch {
        TraceSearch(self, filter, about: about, limit: limit)
    }

    // MARK: Erasing

    /// Blanks the entries of one block that `isErased`.
    func erase(block: Int, _ isErased: (TraceRing.Head, [UInt8]) -> Bool) { ring.erase(block, isErased) }
}

@available(*, unavailable)
extension SessionTrace: Sendable {}
