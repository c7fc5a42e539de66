/// Counts of a topic on one shard, or on all of a node: its members and the outcome of its events.
public struct TopicReport: Sendable, Equatable {
    /// Live members.
    public var members = 0
    /// Events committed through this node.
    public var published = 0
    /// Events received in order on the channel.
    var came = 0
    /// Events without a position: delivered at most once.
    var plain = 0
    /// Events received again, of an ended epoch, or unknown to the log.
    var late = 0
    /// Events fetched from the log to close a hole.
    var repaired = 0
    /// Offsets that no log holds any more: a `gap` was sent instead.
    var missed = 0
    /// Epochs that ended while members were live: a `gap` was sent.
    var resets = 0
    /// Gap messages to members.
    var signalled = 0
    /// Total advance of the topic's position.
    var advanced = 0
    /// Events from the log given to joining clients, of ``handed``.
    var recovered = 0
    /// Events handed to members.
    var handed = 0
    /// Of them, written to the socket.
    var written = 0
    /// Of them, replaced by a newer one.
    var conflated = 0
    /// Of them, lost to a client that read too slowly and was closed.
    var droppedSlow = 0
    /// Of them, lost to a connection that ended.
    var droppedGone = 0
    /// Of them, still in a queue.
    var waiting = 0

    /// Whether every event and every delivery is accounted for.
    public var isBalanced: Bool {
        advanced == came + repaired + missed
            && handed == written + conflated + droppedSlow + droppedGone + waiting
    }

    /// Every figure with the name under which an audit reports it.
    public var figures: [(name: String, value: Int)] {
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
        ("advanced", \.advanced), ("recovered", \.recovered), ("handed", \.handed), ("written", \.written),
        ("conflated", \.conflated), ("droppedSlow", \.droppedSlow), ("droppedGone", \.droppedGone),
        ("waiting", \.waiting),
    ]
}
