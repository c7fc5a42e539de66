import Core
import Sessions
import Transports

/// Finds the session of an id and taps it; the answer is empty when there is none.
///
/// Thread: the shard's.
final class TapWalk: FleetWalk {
    private let question: FleetQuestion
    private let open: OpenTransports
    private let rows: SessionRows
    private let taps: WireTaps
    private let id: [UInt8]
    private var place: Int

    private static let stepCount = 64

    /// `nil` when the question names no session.
    init?(_ question: FleetQuestion, _ open: OpenTransports, _ rows: SessionRows, _ taps: WireTaps) {
        guard let id = question.parameters[.session] else { return nil }
        (self.question, self.open, self.rows, self.taps, self.id) = (question, open, rows, taps, id)
        place = open.end
    }

    func step() -> FleetAnswer? {
        var found: Session?
        place = open.visit(below: place, count: TapWalk.stepCount) { session in
            if session.id == id { found = session }
        }
        guard let found else { return place == 0 ? FleetAnswer() : nil }
        return taps.begin(found, question, rows.row(found))
    }
}
