import Core
import Sessions
import Traces

/// Erases a user from the record of a shard, block by block.
///
/// Thread: the shard's.
final class ForgetWalk: FleetWalk {
    private let trace: SessionTrace
    private var erasure: TraceErasure

    init(user: [UInt8], _ users: UserSessions, _ trace: SessionTrace) {
        self.trace = trace
        var sessions: Set<UInt32> = []
        _ = users.visit(user, below: users.count(of: user), count: users.count(of: user)) { sessions.insert($0.number) }
        erasure = TraceErasure(user: user, open: sessions)
    }

    func step() -> FleetAnswer? { erasure.step(trace) ? FleetAnswer() : nil }
}
