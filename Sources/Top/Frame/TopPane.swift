/// A list of the screen: the key that chooses it, its columns, and the orders that it can have.
enum TopPane: Character, CaseIterable {
    /// The processes.
    case nodes = "n"
    /// The topics with the largest figures.
    case topics = "t"
    /// The sessions that are behind.
    case slow = "s"
    /// The callers that ask most.
    case talkers = "k"
    /// Work that waits in Redis, and dead letters.
    case queues = "d"

    /// The title.
    var title: String {
        switch self {
        case .nodes: "Nodes"
        case .topics: "Hottest topics"
        case .slow: "Slowest sessions"
        case .talkers: "Talkers"
        case .queues: "Queues and dead letters"
        }
    }

    /// The sentence in place of a list without rows.
    var nothing: String {
        switch self {
        case .nodes: "no node"
        case .topics: "no topic has members"
        case .slow: "no session is behind"
        case .talkers: "nobody has asked within the last minutes"
        case .queues: "nothing is known of the queues"
        }
    }

    /// The orders by name; for topics and talkers they are those of the question.
    var orders: [String] {
        switch self {
        case .nodes: ["name", "connections", "out", "in", "bytes", "cpu", "memory", "lag", "slow"]
        case .topics: ["members", "events", "bytes"]
        case .slow: ["queued", "waiting"]
        case .talkers: ["events", "bytes", "refusals", "redis"]
        case .queues: ["dead", "waiting", "oldest"]
        }
    }

    /// The order at the start.
    var orderAtStart: Int { self == .topics ? 1 : 0 }

    /// The columns, in the order of the texts of its rows.
    var columns: [TopColumn] {
        switch self {
        case .nodes:
            [
                TopColumn("NODE", 8, rank: 0, isText: true), TopColumn("HOST", 8, rank: 1, isText: true),
                TopColumn("STATE", 16, rank: 0, isText: true), TopColumn("CONN", 6, rank: 1),
                TopColumn("IN/s", 5, rank: 1), TopColumn("OUT/s", 6, rank: 1), TopColumn("BYTES/s", 7, rank: 4),
                TopColumn("MEM", 5, rank: 3), TopColumn("CPU", 5, rank: 2), TopColumn("LAG", 6, rank: 3),
                TopColumn("SLOW", 5, rank: 4), TopColumn("UP", 4, rank: 3),
                TopColumn("VERSION", 8, rank: 5, isText: true),
            ]
        case .topics:
            [
                TopColumn("TOPIC", 20, rank: 0, isText: true), TopColumn("MEMBERS", 7, rank: 0),
                TopColumn("EVENTS/min", 10, rank: 0), TopColumn("BYTES/min", 9, rank: 1),
                TopColumn("NODES", 5, rank: 2),
            ]
        case .slow:
            [
                TopColumn("SESSION", 16, rank: 0, isText: true), TopColumn("CALLER", 10, rank: 0, isText: true),
                TopColumn("QUEUED", 6, rank: 0), TopColumn("WAITING", 7, rank: 0),
                TopColumn("ADDRESS", 15, rank: 1, isText: true), TopColumn("TOPICS", 6, rank: 2),
                TopColumn("DIALECT", 9, rank: 2, isText: true), TopColumn("CLOSED", 13, rank: 3, isText: true),
            ]
        case .talkers:
            [
                TopColumn("CALLER", 20, rank: 0, isText: true), TopColumn("EVENTS", 7, rank: 0),
                TopColumn("BYTES", 6, rank: 1), TopColumn("REFUSED", 7, rank: 0), TopColumn("REDIS", 7, rank: 1),
            ]
        case .queues:
            [
                TopColumn("QUEUE", 20, rank: 0, isText: true), TopColumn("DEAD", 6, rank: 0),
                TopColumn("WAITING", 7, rank: 0), TopColumn("OLDEST", 6, rank: 0),
                TopColumn("LAST ERROR", 20, rank: 2, isText: true),
            ]
        }
    }
}
