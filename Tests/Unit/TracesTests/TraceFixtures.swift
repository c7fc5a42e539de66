import Core
import Testing

@testable import Traces

/// Topics, positions and a clock for the tests of records.
enum Fixture {
    static func topic(_ text: String = "shop:42") throws -> Topic { try #require(Topic(text)) }

    /// A position such as `a:7`.
    static func position(_ text: String) throws -> Position { try #require(Position(Array(text.utf8))) }

    static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
}

/// A record with a clock that the test sets.
final class Recorder {
    var nowMs = 1_000
    private(set) var trace = SessionTrace(bytesMax: 0, nowMs: { 0 })
    private var allowances: [UInt32: TraceAllowance] = [:]

    init(bytesMax: Int = 65_536, keepMs: Int = 60_000) {
        trace = SessionTrace(bytesMax: bytesMax, keepMs: keepMs) { [unowned self] in nowMs }
    }

    func open(_ user: String, address: IPAddress? = IPAddress(192, 0, 2, 1)) -> UInt32 {
        trace.opened(.user, name: Array(user.utf8), address: address, dialect: Array("native".utf8))
    }

    func note(_ change: TraceEntry.Change, of session: UInt32) {
        trace.note(change, of: session, &allowances[session, default: TraceAllowance()])
    }

    /// The end of a session that began at `sinceMs`.
    func end(_ session: UInt32, _ reason: CloseReason = .normal, of user: String = "ann", since sinceMs: Int = 1_000) {
        trace.ended(reason, of: session, since: sinceMs, &allowances[session, default: TraceAllowance()]) {
            [
                .opened(
                    .user, name: Array(user.utf8), address: IPAddress(192, 0, 2, 1), dialect: Array("native".utf8),
                    sinceMs: sinceMs)
            ]
        }
    }

    func subscribe(_ session: UInt32, _ topic: Topic, at position: String) throws {
        note(
            .subscribed(
                topic, at: try Fixture.position(position), since: nil, isRecovered: false, isFollowed: false),
            of: session)
    }

    func erase(_ user: String, open: Set<UInt32> = []) {
        var erasure = TraceErasure(user: Array(user.utf8), open: open)
        while !erasure.step(trace) {}
    }

    // MARK: Questions

    private func all(_ search: TraceSearch) -> [TracedSession] {
        var search = search
        while true {
            if let found = search.step() { return found }
        }
    }

    /// The sessions that have ended and fit, in the order of their ends.
    func closed(_ filter: TraceSearch.Filter = TraceSearch.Filter(), limit: Int = 10) -> [TracedSession] {
        var filter = filter
        filter.isClosedOnly = true
        return all(trace.search(filter, limit: limit))
    }

    /// A user's sessions, with what they had to do with a topic.
    func sessions(of user: String, on topic: Topic, limit: Int = 10) -> [TracedSession] {
        all(trace.search(TraceSearch.Filter(user: Array(user.utf8)), about: topic, limit: limit))
    }

    /// All entries that are left.
    var entries: [TraceEntry] {
        var entries: [TraceEntry] = []
        for block in 0..<trace.ring.blockCount {
            trace.ring.scan(block, nowMs: nowMs) { head, bytes in
                guard let change = TraceEntry.Change(head.kind, bytes[head.content]) else { return }
                entries.append(TraceEntry(session: head.session, atMs: head.atMs, change))
            }
        }
        return entries
    }
}
