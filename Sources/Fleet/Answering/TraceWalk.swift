import Core
import Service
import Sessions
import Traces
import Transports

/// Finds the sessions of a shard that had to do with a topic, or those of one user, and what became of an event there.
///
/// Open sessions are looked at twice: first to find those in question, and then for the state of the ones that the answer
/// has. Thread: the shard's.
final class TraceWalk: FleetWalk {
    /// The parts of a shard that it reads.
    struct Parts {
        let nodeName: [UInt8]
        let shard: Int
        let open: OpenTransports
        let users: UserSessions
        let trace: SessionTrace
        let clock: ShardClock
        /// Gateways that have gone; one shard of a node reports them.
        let gone: [WhyFacts.GoneNode]
    }

    private enum Phase {
        case finding, searching, standing, reading, writing
    }

    private let parts: Parts
    private let topic: Topic
    private let user: [UInt8]?
    private let position: Position?
    /// When the event was published, milliseconds since 1970; `nil` when that is not known.
    private let publishedMs: Int?
    private let rowsMax: Int
    private var phase = Phase.finding
    private var place: Int
    private var search: TraceSearch
    private var otherSessions = 0
    /// The open sessions of the answer, with their state.
    private var open: [UInt32: (session: TracedSession, standing: TopicStay.Standing?)] = [:]
    /// The sessions that have no row yet.
    private var found: ArraySlice<TracedSession> = []
    private var rows: TopList<FleetRow>
    private var fates: [EventFate.Word: Int] = [:]

    /// Sessions of which a shard counts the fates; and those of a user.
    private static let sessionsMax = 1_000
    /// Rows of a shard.
    private static let rowsMax = 50
    /// Transports, or rows, of one step.
    private static let stepCount = 64
    /// The clock of Redis, which dates events, may differ from the node's by so much.
    private static let clockMs = 5_000

    /// `nil` when the question has no topic, or no user where it needs one.
    init?(_ question: FleetQuestion, _ parts: Parts) {
        guard let topic = question.parameters[.topic].flatMap({ Topic($0) }) else { return nil }
        user = question.parameters[.user]
        if question.kind == .why, user == nil { return nil }
        self.parts = parts
        self.topic = topic
        position = question.parameters[.position].flatMap { Position($0) }
        publishedMs = question.parameters[.published].flatMap { ASCII.decimal($0) }
        rowsMax = min(question.rowsPerPart, TraceWalk.rowsMax)
        rows = TopList(capacity: rowsMax)
        place = user.map(parts.users.count) ?? parts.open.end
        let filter = user.map { TraceSearch.Filter(user: $0) } ?? TraceSearch.Filter(topic: topic)
        search = parts.trace.search(filter, about: topic, limit: user == nil ? TraceWalk.sessionsMax : rowsMax)
    }

    func step() -> FleetAnswer? {
        switch phase {
        case .finding: visit(then: .searching) { find($0) }
        case .searching:
            _ = search.step()
            if search.numbers != nil { begin(.standing) }
        case .standing:
            visit(then: .reading) { stand($0) }
            // A session that ends from now on is read with its end.
            if phase == .reading { search.renew() }
        case .reading:
            guard let sessions = search.step() else { break }
            // Of sessions that weigh the same, the newest have a row.
            found = sessions.reversed()[...]
            let known = Set(sessions.map(\.number))
            for (number, session) in open where !known.contains(number) { found.append(session.session) }
            begin(.writing)
        case .writing:
            for session in found.prefix(TraceWalk.stepCount) { write(session) }
            found = found.dropFirst(TraceWalk.stepCount)
            return found.isEmpty ? answer : nil
        }
        return nil
    }

    private func begin(_ next: Phase) {
        phase = next
        place = user.map(parts.users.count) ?? parts.open.end
    }

    private func visit(then next: Phase, _ visit: (Session) -> Void) {
        place =
            if let user {
                parts.users.visit(user, below: place, count: TraceWalk.stepCount, visit)
            } else {
                parts.open.visit(below: place, count: TraceWalk.stepCount, visit)
            }
        if place == 0 { begin(next) }
    }

    /// Notes an open session that is in question; one may be visited twice.
    private func find(_ session: Session) {
        let hears = session.hears(topic)
        if user != nil {
            search.add(open: session.number, isAbout: hears)
        } else if hears {
            search.add(open: session.number, isAbout: true)
        } else {
            otherSessions += 1
        }
    }

    private func stand(_ session: Session) {
        guard search.numbers?.contains(session.number) == true, open[session.number] == nil else { return }
        open[session.number] = (session.traced, session.standing(on: topic))
    }

    private func wallMs(_ atMs: Int) -> Int { parts.clock.wallMs - (parts.clock.nowMs - atMs) }

    private func write(_ traced: TracedSession) {
        var session = traced
        if let live = open[session.number] {
            if session.openedMs == nil {
                (session.caller, session.name, session.address) =
                    (live.session.caller, live.session.name, live.session.address)
                (session.dialect, session.openedMs) = (live.session.dialect, live.session.openedMs)
            }
            session.isExcluding = session.isExcluding || live.session.isExcluding
            if let standing = live.standing { session.stands(standing, on: topic, gaps: search.gaps) }
        }
        if user == nil, session.stays.isEmpty, session.refused.isEmpty { return }
        let event = position.map { TracedPosition($0, isRecent: isRecent) }
        var rank = 0
        if let event {
            for stay in session.stays {
                let word = session.fate(of: event, on: stay).word
                fates[word, default: 0] += 1
                rank = max(rank, word.rank)
            }
        }
        guard rows.admits(rank) else { return }
        let id = ShardAddress(node: parts.nodeName, shard: parts.shard).id(ofSession: session.number)
        let content = SessionRow.text(session, id: id, node: parts.nodeName, about: event, wallMs: wallMs)
        rows.offer(FleetRow(key: id, figures: [rank], content: content), rank)
    }

    /// Whether the record would name what happened since the event was published.
    private var isRecent: Bool {
        publishedMs.map { $0 - TraceWalk.clockMs >= wallMs(parts.trace.sinceMs) } ?? false
    }

    private var answer: FleetAnswer { FleetAnswer(rows: [recordRow] + rows.sorted, total: search.total) }

    private var recordRow: FleetRow {
        var key = [UInt8(ascii: "!")] + parts.nodeName + [UInt8(ascii: ".")]
        key.append(decimal: parts.shard)
        let content = RecordRow.text(
            node: parts.nodeName, shard: parts.shard, sinceMs: parts.trace.isOn ? wallMs(parts.trace.sinceMs) : nil,
            otherSessions: otherSessions, fates: fates, gone: parts.gone)
        return FleetRow(key: key, figures: [EventFate.Word.rankMax + 1], content: content)
    }
}
