public import Core
public import Operations
import Reactors
public import Service
public import Sessions
public import Topics
public import Traces
public import Transports

/// Makes the answers of a shard from its sessions, its topics and the node's figures.
///
/// Figures of the whole node are in the answer of its first shard. Thread: the shard's.
public final class ShardAnswers: FleetSource {
    private let open: OpenTransports
    private let users: UserSessions
    private let topics: TopicTable<Session>
    private let trace: SessionTrace
    private let metrics: Metrics
    private let talkers: Talkers
    private let clock: ShardClock
    private let taps: WireTaps
    private let rows: SessionRows

    /// Answers for the shard at `address`.
    public init(
        address: ShardAddress, open: OpenTransports, users: UserSessions, topics: TopicTable<Session>,
        trace: SessionTrace, metrics: Metrics, talkers: Talkers, clock: ShardClock, taps: WireTaps
    ) {
        self.open = open
        self.users = users
        self.topics = topics
        self.trace = trace
        self.metrics = metrics
        self.talkers = talkers
        self.clock = clock
        self.taps = taps
        rows = SessionRows(address: address, clock: clock)
    }

    /// Begins an answer; a malformed question gets an empty one.
    public func begin(_ question: FleetQuestion) -> any FleetWalk {
        switch question.kind {
        case .topics: return TopicWalk(topics, question, nowMs: clock.nowMs)
        case .sessions, .slow:
            guard let filter = SessionFilter(question) else { break }
            return SessionWalk(open, users, filter, rows, trace, limit: question.rowsPerPart)
        case .trace, .why:
            guard let walk = TraceWalk(question, traceParts) else { break }
            return walk
        case .forget:
            guard let user = question.parameters[.user] else { break }
            taps.forget(user)
            return ForgetWalk(user: user, users, trace)
        case .close:
            guard let walk = CloseWalk(question, open, rows, metrics.log) else { break }
            return walk
        case .tap:
            guard let walk = TapWalk(question, open, rows, taps) else { break }
            return walk
        case .wire: return FleetWalkDone(taps.read(question))
        case .untap: return FleetWalkDone(taps.end(question))
        case .nodes: return FleetWalkDone(FleetAnswer(rows: [NodeRow.own(metrics, rows.address.node)], total: 1))
        case .talkers: return FleetWalkDone(callers(question))
        }
        return FleetWalkDone()
    }

    private var traceParts: TraceWalk.Parts {
        let departed = rows.address.shard == 0 ? metrics.figures.nodes.withLock { $0.departed } : []
        return TraceWalk.Parts(
            nodeName: rows.address.node, shard: rows.address.shard, open: open, users: users, trace: trace,
            clock: clock,
            gone: departed.map {
                WhyFacts.GoneNode(name: String(decoding: $0.name, as: UTF8.self), seenMs: $0.seenMs)
            })
    }

    private func callers(_ question: FleetQuestion) -> FleetAnswer {
        guard let word = question.parameters[.by],
            let group = Talkers.Group(rawValue: String(decoding: word, as: UTF8.self))
        else { return FleetAnswer() }
        let all = talkers.all(group, nowMs: clock.nowMs)
        var top = TopList<FleetRow>(capacity: question.rowsPerPart)
        for (key, figures) in all {
            let numbers = [figures.events, figures.bytes, figures.refusals, figures.redisUs]
            var content: [UInt8] = [UInt8(ascii: "{"), UInt8(ascii: "\"")]
            content.append(text: group.rawValue + "\":")
            content.append(jsonString: key)
            content.append(UInt8(ascii: "}"))
            top.offer(FleetRow(key: key, figures: numbers, content: content), numbers[question.order])
        }
        var answer = FleetAnswer(rows: top.sorted, total: all.count)
        answer.names = DistinctCount(names: all.lazy.map { DistinctCount.hash($0.key) })
        return answer
    }
}
