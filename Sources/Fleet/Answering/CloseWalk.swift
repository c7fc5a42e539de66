import Configuration
import Core
import Operations
import Service
import Sessions
import Transports

/// Closes the session of an id; the answer has a row when there was one.
///
/// Thread: the shard's.
final class CloseWalk: FleetWalk {
    private let open: OpenTransports
    private let rows: SessionRows
    private let log: Log
    private let id: [UInt8]
    private let reason: CloseReason
    private let key: [UInt8]
    private var place: Int

    private static let stepCount = 64

    /// `nil` when the question names no session or no reason that an operator may give.
    init?(_ question: FleetQuestion, _ open: OpenTransports, _ rows: SessionRows, _ log: Log) {
        guard let id = question.parameters[.session],
            let reason = FleetQuestion.closeReason(question.parameters[.reason] ?? [])
        else { return nil }
        self.open = open
        self.rows = rows
        self.log = log
        self.id = id
        self.reason = reason
        key = question.parameters[.by] ?? []
        place = open.end
    }

    func step() -> FleetAnswer? {
        var found: Session?
        place = open.visit(below: place, count: CloseWalk.stepCount) { session in
            if session.id == id { found = session }
        }
        guard let found else { return place == 0 ? FleetAnswer() : nil }
        let row = rows.row(found)
        log.write(
            .info, "an operator closed a session",
            [("key", ClientLog.text(key)), ("session", ClientLog.text(id)), ("reason", reason.rawValue)]
                + ClientLog.fields(found.caller, at: found.address))
        found.close(reason)
        var content: [UInt8] = [UInt8(ascii: "{")]
        content.append(member: "id", string: id)
        content.append(member: "user", stringOrNull: SessionRows.user(found.caller))
        content.append(member: "node", string: rows.address.node)
        content.append(member: "why", string: reason.rawValue)
        return FleetAnswer(rows: [FleetRow(key: row.key, content: content + [UInt8(ascii: "}")])], total: 1)
    }
}
