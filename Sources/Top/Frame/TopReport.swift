import Core

/// Everything that a frame can show: the answers of a round, read and compared with those of the one before.
///
/// Pure.
struct TopReport {
    /// The processes.
    private(set) var nodes: [TopNode] = []
    /// Gateways without an answer: a sentence each.
    private(set) var missing: [String] = []
    /// Gateways that have gone within the last minutes: a sentence each.
    private(set) var gone: [String] = []
    /// The rows of the lists.
    private(set) var rows: [TopPane: [TopRow]] = [:]
    /// The number of all things that match, of which the rows may be a part.
    private(set) var totals: [TopPane: Int] = [:]
    private(set) var outbox: TopQueue?
    private(set) var redis = TopRedis()
    /// The time of the answers, as in `12:04:05`; empty without any.
    private(set) var time = ""
    /// The cause for which there are no newer answers; `nil` while there are.
    private(set) var trouble: String?

    /// The machines of the gateways that have answered so far, by id.
    private var machines: [String: String] = [:]

    private static let machinesMax = 1_000
    private static let jsonLimits = JSON.Limits(depthMax: 10, elementsMax: 400_000)
    /// The time for which a node that has gone is shown, seconds.
    private static let goneSecondsMax = 300

    /// A report without answers.
    init() {}

    /// Takes the answers of a round; lists that were not asked for stay.
    mutating func take(_ answers: TopAnswers) {
        trouble = answers.trouble.map(TopText.clean)
        guard answers.trouble == nil else { return }
        time = String(Timestamp.text(wallMs: answers.wallMs).dropFirst(11).prefix(8))
        redis = answers.redis
        takeNodes(answers)
        for (pane, list) in answers.lists {
            rows[pane] = pane.rows(TopReport.read(list.rows))
            totals[pane] = list.total
        }
        takeQueues(answers)
    }

    private static func read(_ text: [UInt8]?) -> JSON.Value? {
        text.flatMap { try? JSON(parsing: $0, limits: jsonLimits) }?.root
    }

    private mutating func takeNodes(_ answers: TopAnswers) {
        let before = nodes
        nodes = TopReport.read(answers.nodes)?.members.compactMap { TopNode($0) } ?? []
        for place in nodes.indices {
            let former = before.first { $0.id == nodes[place].id }
            // Askers who ask at once get one answer: then there is nothing new to compare.
            let isSame = former?.counts?.uptimeMs == nodes[place].counts?.uptimeMs
            nodes[place].rates =
                isSame ? former?.rates : TopRates(from: former?.counts, to: nodes[place].counts)
        }
        if machines.count > TopReport.machinesMax { machines = [:] }
        for node in nodes where node.isGateway { machines[node.id] = node.name }
        func named(_ id: String) -> String {
            let id = TopText.clean(id)
            return machines[id].map { "\(id) (\($0))" } ?? id
        }
        missing = answers.missing.map { "no answer of \(named($0.id)): \(TopReport.words(of: $0.cause))" }
        let absent = Set(answers.missing.map(\.id))
        gone = answers.gone.filter { $0.seconds < TopReport.goneSecondsMax && !absent.contains($0.id) }
            .map { "\(named($0.id)) has gone, \(TopNumber.seconds($0.seconds)) ago" }
        rows[.nodes] = nodes.map { TopPane.row($0) }
        totals[.nodes] = nodes.count
    }

    /// A sentence part for the word of a cause (``FleetFault``).
    private static func words(of cause: String) -> String {
        switch cause {
        case "no_answer": "it hangs, or Redis does"
        case "not_listening": "it has ended, or has lost Redis"
        case "not_sent": "Redis did not take the question"
        case "busy": "it has too many questions"
        case "clock": "its clock differs too much"
        case "version": "its version does not know the question"
        default: TopText.clean(cause)
        }
    }

    private mutating func takeQueues(_ answers: TopAnswers) {
        outbox = TopQueue(outbox: TopReport.read(answers.outbox))
        var queues = [outbox].compactMap(\.self)
        var services: Set<String> = []
        for service in nodes.flatMap(\.services) where services.insert(service.name).inserted {
            queues.append(service)
        }
        for value in TopReport.read(answers.webhooks).map({ Array($0.members.prefix(256)) }) ?? [] {
            let dead = value["receiver"]?.string.flatMap { answers.webhooksDead[$0] }
            if let queue = TopQueue(webhook: value, dead: dead) { queues.append(queue) }
        }
        rows[.queues] = queues.map { TopPane.row($0) }
        totals[.queues] = queues.count
        dead = queues.reduce(0) { $0.addingReportingOverflow($1.dead ?? 0).partialValue }
    }

    /// Dead letters of all queues.
    private(set) var dead = 0

    /// The sum of a rate over all nodes; `nil` while none is known.
    func sum(_ path: (TopRates) -> Double) -> Double? {
        let known = nodes.compactMap(\.rates).map(path)
        return known.isEmpty ? nil : known.reduce(0, +)
    }

    /// The number of processes of a role.
    func count(of role: String) -> Int { nodes.count { $0.role == role } }

    /// The number of gateways that have answered.
    var gateways: Int { nodes.count { $0.isGateway } }

    /// Connections of all gateways.
    var connections: Int { nodes.reduce(0) { $0.addingReportingOverflow($1.connections ?? 0).partialValue } }
}
