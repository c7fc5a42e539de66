import Core

/// Reading the rows of lists.
extension TopPane {
    /// The rows of an answer, which is a JSON array; a value of another form is left out.
    func rows(_ answer: JSON.Value?) -> [TopRow] {
        answer?.members.prefix(TopPane.rowsMax).compactMap { value in
            guard value.kind == .object else { return nil }
            switch self {
            case .topics: return TopPane.topic(value)
            case .slow: return TopPane.session(value)
            case .talkers: return TopPane.talker(value)
            case .nodes, .queues: return nil
            }
        } ?? []
    }

    private static let rowsMax = 1_000

    private static func text(_ value: JSON.Value?) -> String { TopText.clean(value?.string ?? "-") }

    private static func topic(_ value: JSON.Value) -> TopRow? {
        let figures = ["members", "eventsPerMinute", "bytesPerMinute", "nodes"].map { value[$0]?.int ?? 0 }
        return TopRow(
            texts: [
                text(value["topic"]), TopNumber.count(figures[0]), TopNumber.count(figures[1]),
                TopNumber.bytes(figures[2]), TopNumber.count(figures[3]),
            ], numbers: figures.prefix(3).map(Double.init))
    }

    private static func session(_ value: JSON.Value) -> TopRow? {
        let (queued, waitingMs) = (value["queuedBytes"]?.int ?? 0, value["waitingMs"]?.int ?? 0)
        return TopRow(
            texts: [
                text(value["id"]), TopText.clean(value["user"]?.string ?? value["key"]?.string ?? "-"),
                TopNumber.bytes(queued), TopNumber.microseconds(waitingMs.multipliedReportingOverflow(by: 1_000).0),
                text(value["address"]), TopNumber.count(value["topicCount"]?.int ?? 0), text(value["dialect"]),
                text(value["why"]),
            ], numbers: [Double(queued), Double(waitingMs)])
    }

    private static func talker(_ value: JSON.Value) -> TopRow? {
        let names = ["user", "address", "namespace", "key"]
        let figures = ["events", "bytes", "refusals", "redisUs"].map { value[$0]?.int ?? 0 }
        return TopRow(
            texts: [
                text(names.lazy.compactMap { value[$0] }.first), TopNumber.count(figures[0]),
                TopNumber.bytes(figures[1]), TopNumber.count(figures[2]), TopNumber.microseconds(figures[3]),
            ], numbers: figures.map(Double.init))
    }

    /// The row of a process.
    static func row(_ node: TopNode) -> TopRow {
        let rates = node.rates
        return TopRow(
            texts: [
                node.id, node.name, node.state, node.connections.map(TopNumber.count) ?? "-",
                TopNumber.rate(rates?.messagesIn), TopNumber.rate(rates?.messagesOut), TopNumber.byteRate(rates?.bytes),
                node.memoryBytes.map(TopNumber.bytes) ?? "-", TopNumber.percent(rates?.cpu),
                TopNumber.microseconds(rates?.lagUs), node.counts.map { TopNumber.count($0.slowCloses) } ?? "-",
                node.uptimeSeconds.map(TopNumber.seconds) ?? "-", node.version,
            ],
            numbers: [
                0, Double(node.connections ?? -1), rates?.messagesOut ?? -1, rates?.messagesIn ?? -1,
                rates?.bytes ?? -1, rates?.cpu ?? -1, Double(node.memoryBytes ?? -1),
                Double(rates?.lagUs ?? -1), Double(node.counts?.slowCloses ?? -1),
            ], isWarning: !node.isWell)
    }

    /// The row of a queue.
    static func row(_ queue: TopQueue) -> TopRow {
        TopRow(
            texts: [
                queue.name, queue.dead.map(TopNumber.count) ?? "-", queue.waiting.map(TopNumber.count) ?? "-",
                queue.oldestSeconds.map(TopNumber.seconds) ?? "-", queue.lastError.isEmpty ? "-" : queue.lastError,
            ],
            numbers: [Double(queue.dead ?? -1), Double(queue.waiting ?? -1), Double(queue.oldestSeconds ?? -1)],
            isWarning: (queue.dead ?? 0) > 0)
    }
}
