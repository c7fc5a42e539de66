import Connections
import Core
import Sessions
import Transports

/// Finds the sessions of a shard that match, those with the most waiting bytes first.
///
/// Thread: the shard's.
final class SessionWalk: FleetWalk {
    private let open: OpenTransports
    private let filter: SessionFilter
    private let rows: SessionRows
    private var place: Int
    private var top: TopList<Session>
    private var total = 0

    /// Transports of one step.
    private static let stepCount = 64

    init(_ open: OpenTransports, _ filter: SessionFilter, _ rows: SessionRows, limit: Int) {
        self.open = open
        self.filter = filter
        self.rows = rows
        place = open.end
        top = TopList(capacity: limit)
    }

    func step() -> FleetAnswer? {
        place = open.visit(below: place, count: SessionWalk.stepCount) { session in
            let bytes = session.load.bytes
            guard filter.matches(session, bytes: bytes) else { return }
            total += 1
            top.offer(session, bytes)
        }
        guard place == 0 else { return nil }
        // A session may have been visited twice.
        var seen: Set<[UInt8]> = []
        let found = top.sorted.map(rows.row).filter { seen.insert($0.key).inserted }
        return FleetAnswer(rows: found, total: total)
    }
}
