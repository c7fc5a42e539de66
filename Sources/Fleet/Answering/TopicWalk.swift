import Core
import Sessions
import Topics

/// Finds the topics of a shard with the largest figure.
///
/// Thread: the shard's.
final class TopicWalk: FleetWalk {
    private let topics: TopicTable<Session>
    private let namespace: [UInt8]?
    private let order: Int
    private let nowMs: Int
    private var place: Int
    private var top: TopList<FleetRow>
    private var names = DistinctCounter()

    private static let stepCount = 64

    init(_ topics: TopicTable<Session>, _ question: FleetQuestion, nowMs: Int) {
        self.topics = topics
        self.nowMs = nowMs
        namespace = question.parameters[.namespace]
        order = question.order
        place = topics.end
        top = TopList(capacity: question.rowsPerPart)
    }

    func step() -> FleetAnswer? {
        place = topics.visit(below: place, count: TopicWalk.stepCount) { take($0) }
        guard place == 0 else { return nil }
        // A topic may have been visited twice.
        var seen: Set<[UInt8]> = []
        let names = names.count
        var answer = FleetAnswer(rows: top.sorted.filter { seen.insert($0.key).inserted }, total: names.count)
        answer.names = names
        return answer
    }

    private func take(_ topic: LocalTopic<Session>) {
        // A topic that everybody has left lingers for a while.
        guard topic.memberCount > 0, namespace.map({ topic.topic.namespace.elementsEqual($0) }) ?? true else { return }
        names.add(topic.topic.bytes)
        let rates = topic.perMinute(nowMs: nowMs)
        let figures = [topic.memberCount, rates.events, rates.bytes, 1]
        guard top.admits(figures[order]) else { return }
        var content: [UInt8] = [UInt8(ascii: "{")]
        content.append(member: "topic", string: topic.topic.bytes)
        content.append(UInt8(ascii: "}"))
        top.offer(FleetRow(key: topic.topic.bytes, figures: figures, content: content), figures[order])
    }
}
