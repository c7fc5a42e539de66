import Core
import Transport

/// What one shard, or all of a node, know of a topic: its members here and its ledger.
struct TopicReport: Sendable, Equatable {
    var members = 0
    var published = 0
    var came = 0
    var plain = 0
    var late = 0
    var repaired = 0
    var missed = 0
    var resets = 0
    var signalled = 0
    var recovered = 0
    var advanced = 0
    var handed = 0
    var written = 0
    var conflated = 0
    var dropped = 0
    var waiting = 0

    init() {}

    init(_ ledger: TopicLedger, members: Int, at position: Position?) {
        self.members = members
        came = ledger.came
        plain = ledger.plain
        late = ledger.late
        repaired = ledger.repaired
        missed = ledger.missed
        resets = ledger.resets
        signalled = ledger.signalled
        recovered = ledger.recovered
        advanced = ledger.advanced(to: position)
        handed = ledger.handed
        written = ledger.counts.written
        conflated = ledger.counts.conflated
        dropped = ledger.counts.dropped
        waiting = ledger.counts.waiting
    }

    /// Whether every event and every delivery is accounted for.
    var isBalanced: Bool {
        advanced == came + repaired + missed && handed == written + conflated + dropped + waiting
    }

    /// Every figure with its name, as an audit tells it.
    var figures: [(name: String, value: Int)] {
        TopicReport.figures.map { ($0.name, self[keyPath: $0.path]) }
    }

    static func + (left: TopicReport, right: TopicReport) -> TopicReport {
        var sum = left
        sum.members += right.members
        for figure in figures { sum[keyPath: figure.path] += right[keyPath: figure.path] }
        return sum
    }

    private static let figures: [(name: String, path: WritableKeyPath<TopicReport, Int> & Sendable)] = [
        ("published", \.published), ("came", \.came), ("plain", \.plain), ("late", \.late),
        ("repaired", \.repaired), ("missed", \.missed), ("resets", \.resets), ("signalled", \.signalled),
        ("recovered", \.recovered), ("advanced", \.advanced), ("handed", \.handed), ("written", \.written),
        ("conflated", \.conflated), ("dropped", \.dropped), ("waiting", \.waiting),
    ]
}
