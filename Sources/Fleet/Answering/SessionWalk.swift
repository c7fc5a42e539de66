import Connections
import Core
import Sessions
import Traces
import Transports

/// Finds the sessions of a shard that match: open ones, those with the most waiting bytes first, and those that ended.
///
/// Thread: the shard's.
final class SessionWalk: FleetWalk {
    private let open: OpenTransports
    private let users: UserSessions
    private let filter: SessionFilter
    private let rows: SessionRows
    private let trace: SessionTrace
    private let limit: Int
    private var place: Int
    private var isWalked = false
    private var top: TopList<Session>
    private var total = 0
    /// Reads the sessions of the last hour that have ended.
    private var ended: TraceSearch

    /// Transports, or sessions of a user, of one step.
    private static let stepCount = 64

    init(
        _ open: OpenTransports, _ users: UserSessions, _ filter: SessionFilter, _ rows: SessionRows,
        _ trace: SessionTrace, limit: Int
    ) {
        self.open = open
        self.users = users
        self.filter = filter
        self.rows = rows
        self.trace = trace
        self.limit = limit
        place = filter.user.map(users.count) ?? open.end
        top = TopList(capacity: limit)
        ended = trace.search(filter.ended, limit: filter.endedMax(limit))
    }

    func step() -> FleetAnswer? {
        guard isWalked else {
            place = visitSome()
            isWalked = place == 0
            return nil
        }
        return ended.step().map(answer)
    }

    /// Visits those of one step; returns the place at which the walk continues.
    private func visitSome() -> Int {
        if let user = filter.user {
            users.visit(user, below: place, count: SessionWalk.stepCount) { visit($0, bytes: $0.load.bytes) }
        } else {
            open.visitTransports(below: place, count: SessionWalk.stepCount, visit)
        }
    }

    /// Takes a session that matches.
    private func visit(_ session: Session, bytes: @autoclosure () -> Int) {
        guard filter.matches(session) else { return }
        let bytes = bytes()
        guard bytes > 0 || !filter.isBehind else { return }
        total += 1
        top.offer(session, bytes)
    }

    /// Takes the sessions of a transport that match.
    ///
    /// Of many thousand idle clients nothing is in the processor's cache, and each part that is looked at costs. So the
    /// waiting bytes, which are the transport's, are read first where they decide, and last where a session must match.
    private func visit(_ transport: any ClientTransport) {
        guard filter.isOfAll else {
            transport.peer?.visitSessions { visit($0, bytes: transport.load.bytes) }
            return
        }
        let bytes = transport.load.bytes
        guard bytes > 0 || !filter.isBehind && top.admits(0) else { return }
        transport.peer?.visitSessions { session in
            total += 1
            top.offer(session, bytes)
        }
    }

    private func answer(_ sessions: [TracedSession]) -> FleetAnswer {
        // A session may have been visited twice, and may have ended meanwhile.
        var seen: Set<[UInt8]> = []
        let closed = sessions.filter(filter.matches).reversed().map(rows.row)
        let found = (top.sorted.map(rows.row) + closed).filter { seen.insert($0.key).inserted }
        let openCount = filter.isOfAll && !filter.isBehind ? trace.openCount : total
        return FleetAnswer(
            rows: Array(found.prefix(limit)), total: openCount + (filter.isBehind ? closed.count : ended.total))
    }
}
