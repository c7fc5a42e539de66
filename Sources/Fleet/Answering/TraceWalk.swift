import Core
import Rights
import Service
import Sessions
import Traces
import Transports

/// Finds the sessions of a shard that had to do with a topic, or those of one user, and what became of an event there.
///
/// Thread: the shard's.
final class TraceWalk: FleetWalk {
    /// The parts of a shard that it reads.
    struct Parts {
        let nodeName: [UInt8]
        let shard: Int
        let open: OpenTransports
        let trace: SessionTrace
        let clock: ShardClock
        /// Gateways that have gone; one shard of a node reports them.
        let gone: [WhyFacts.GoneNode]
    }

    private let parts: Parts
    private let topic: Topic
    private let user: [UInt8]?
    private let event: Position?
    private let limit: Int
    private var place: Int
    /// `nil` once the record is read.
    private var search: TraceSearch?
    private var known: [UInt32: TracedSession] = [:]
    private var seen: Set<UInt32> = []
    private var otherSessions = 0

    /// Sessions of an answer.
    private static let sessionsMax = 50
    /// Transports of one step.
    private static let stepCount = 64

    /// `nil` when the question has no topic, or no user where it needs one.
    init?(_ question: FleetQuestion, _ parts: Parts) {
        guard let topic = question.parameters[.topic].flatMap({ Topic($0) }) else { return nil }
        user = question.parameters[.user]
        if question.kind == .why, user == nil { return nil }
        self.parts = parts
        self.topic = topic
        event = question.parameters[.position].flatMap { Position($0) }
        limit = min(question.rowsPerPart, TraceWalk.sessionsMax)
        place = parts.open.end
        let filter = user.map { TraceSearch.Filter(user: $0) } ?? TraceSearch.Filter(topic: topic)
        search = parts.trace.search(filter, about: topic, limit: limit)
    }

    func step() -> FleetAnswer? {
        guard search == nil else {
            guard let found = search?.step() else { return nil }
            search = nil
            for session in found { known[session.number] = session }
            place = parts.open.end
            return nil
        }
        place = parts.open.visit(below: place, count: TraceWalk.stepCount) { take($0) }
        return place == 0 ? answer : nil
    }

    /// Adds what holds for an open session now; one may be visited twice.
    private func take(_ session: Session) {
        guard seen.insert(session.number).inserted else { return }
        let standing = session.standing(on: topic)
        if let user {
            guard case .user(let identity) = session.caller, identity.user == user else { return }
        } else if standing == nil, known[session.number] == nil {
            return otherSessions += 1
        }
        guard var traced = known[session.number] ?? (known.count < limit ? session.traced : nil) else { return }
        if traced.openedMs == nil { traced.openedMs = session.openedMs }
        if let standing {
            if let index = traced.stays.lastIndex(where: { $0.topic == topic && $0.end == nil }) {
                traced.stays[index].now = standing
            } else {
                var stay = TopicStay(topic: topic)
                stay.now = standing
                traced.stays.append(stay)
            }
        }
        known[session.number] = traced
    }

    private var answer: FleetAnswer {
        let rows = known.values.map { row($0) }
        return FleetAnswer(rows: [recordRow] + rows, total: rows.count)
    }

    private func wallMs(_ atMs: Int) -> Int { parts.clock.wallMs - (parts.clock.nowMs - atMs) }

    /// A session that lost the event stands before one that did not.
    private func row(_ session: TracedSession) -> FleetRow {
        let id = ShardAddress(node: parts.nodeName, shard: parts.shard).id(ofSession: session.number)
        let isLost = event.map { event in session.stays.contains { $0.fate(of: event).word.isLoss } } ?? false
        let content = SessionRow.text(session, id: id, node: parts.nodeName, about: event, wallMs: wallMs)
        return FleetRow(key: id, figures: [isLost ? 1 : 0], content: content)
    }

    private var recordRow: FleetRow {
        var key = [UInt8(ascii: "!")] + parts.nodeName + [UInt8(ascii: ".")]
        key.append(decimal: parts.shard)
        let content = RecordRow.text(
            node: parts.nodeName, shard: parts.shard,
            sinceMs: parts.trace.isOn ? wallMs(max(parts.trace.sinceMs, parts.clock.nowMs - SessionTrace.keepMs)) : nil,
            otherSessions: otherSessions, gone: parts.gone)
        return FleetRow(key: key, figures: [2], content: content)
    }
}
