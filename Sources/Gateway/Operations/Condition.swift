/// One thing that keeps a node from being ready.
struct Condition: Equatable, Sendable {
    /// What it is about.
    enum Part: Hashable, Sendable {
        /// The whole process.
        case node
        /// The link that events come by.
        case subscriber
        /// A shard and the link its publishes and commands go by.
        case shard(Int)
        /// A link to one master of a cluster: `subscriber@host:port`, `shard-0@host:port`.
        case master(String)

        var name: String {
            switch self {
            case .node: "node"
            case .subscriber: "subscriber"
            case .shard(let index): "shard-\(index)"
            case .master(let name): name
            }
        }
    }

    let part: Part
    let reason: NotReadyReason
    /// The server's or the system's words, for the log only.
    var detail = ""

    init(_ part: Part, _ reason: NotReadyReason, detail: String = "") {
        self.part = part
        self.reason = reason
        self.detail = detail
    }
}
