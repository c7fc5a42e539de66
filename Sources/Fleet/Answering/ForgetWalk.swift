import Core
import Rights
import Sessions
import Traces
import Transports

/// Erases a user from the record of a shard: finds the user's open sessions, then reads the record block by block.
///
/// Thread: the shard's.
final class ForgetWalk: FleetWalk {
    private let open: OpenTransports
    private let trace: SessionTrace
    private let user: [UInt8]
    private var place: Int
    private var sessions: Set<UInt32> = []
    /// `nil` while the open sessions are looked at.
    private var erasure: TraceErasure?

    /// Transports of one step.
    private static let stepCount = 64

    init(user: [UInt8], _ open: OpenTransports, _ trace: SessionTrace) {
        (self.user, self.open, self.trace) = (user, open, trace)
        place = open.end
    }

    func step() -> FleetAnswer? {
        guard erasure == nil else { return erasure?.step(trace) == true ? FleetAnswer() : nil }
        place = open.visit(below: place, count: ForgetWalk.stepCount) { session in
            guard case .user(let identity) = session.caller, identity.user == user else { return }
            sessions.insert(session.number)
        }
        if place == 0 { erasure = TraceErasure(user: user, open: sessions) }
        return nil
    }
}
