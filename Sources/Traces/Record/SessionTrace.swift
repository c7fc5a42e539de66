public import Core

/// The record of what became of the sessions of one shard: bounded in bytes, and of the last hour.
///
/// A delivery writes nothing here. The position at the subscribe, and the position and the queue at the time of a
/// question or of the close, tell what was delivered. Thread: the shard's.
public final class SessionTrace {
    /// The milliseconds that an entry is kept.
    public static let keepMs = 3_600_000
    /// Changes of one session that are kept beside its end, so that no client fills the record.
    public static let changesMax: UInt8 = 250

    private(set) var ring: TraceRing
    private var sessions: UInt32 = 0
    let nowMs: () -> Int

    /// Keeps at most `bytesMax` bytes, 0 for nothing; `nowMs` is the shard's clock, monotonic milliseconds.
    public init(bytesMax: Int, keepMs: Int = SessionTrace.keepMs, nowMs: @escaping () -> Int) {
        ring = TraceRing(bytesMax: bytesMax, keepMs: keepMs, nowMs: nowMs())
        self.nowMs = nowMs
    }

    /// Whether anything is kept.
    public var isOn: Bool { ring.isOn }

    /// The time from which on nothing is missing, monotonic milliseconds.
    public var sinceMs: Int { ring.sinceMs }

    /// Bytes that the record takes.
    public var byteCount: Int { ring.byteCount }

    // MARK: Writing

    /// Notes a new session; returns its number, which is 1 or more.
    public func opened(_ caller: TraceEntry.Caller, name: [UInt8], address: IPAddress?, dialect: [UInt8]) -> UInt32 {
        sessions = sessions == UInt32.max ? 1 : sessions + 1
        write(.opened(caller, name: name, address: address, dialect: dialect), sessions)
        return sessions
    }

    /// Notes a change of a session; `count` is the session's number of changes.
    public func note(_ change: @autoclosure () -> TraceEntry.Change, of session: UInt32, _ count: inout UInt8) {
        guard ring.isOn, count < SessionTrace.changesMax else { return }
        count += 1
        write(count == SessionTrace.changesMax ? .full : change(), session)
    }

    /// Notes the end of a session, and the topics that it leaves by it.
    public func ended(_ change: TraceEntry.Change, of session: UInt32) {
        write(change, session)
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

    /// Erases every entry of a user's sessions, and of topics whose id is the user.
    public func erase(user: [UInt8]) {
        var sessions: Set<UInt32> = []
        for block in 0..<ring.blockCount {
            ring.scan(block, nowMs: nowMs()) { head, bytes in
                if head.names(user, in: bytes) { sessions.insert(head.session) }
            }
        }
        ring.erase { head, bytes in
            if sessions.contains(head.session) { return true }
            guard head.kind.hasTopic, let count = bytes[head.content].first else { return false }
            let topic = bytes[head.content].dropFirst().prefix(Int(count))
            return topic.drop { $0 != UInt8(ascii: ":") }.dropFirst().elementsEqual(user)
        }
    }
}

@available(*, unavailable)
extension SessionTrace: Sendable {}
