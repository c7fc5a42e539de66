/// A condition that keeps a node from being ready.
public struct Condition: Equatable, Sendable {
    /// The affected part.
    public enum Part: Hashable, Sendable {
        /// The whole process.
        case node
        /// The subscriber link of a shard, which receives events.
        case subscriber(Int)
        /// A shard and the link that carries its publishes and commands.
        case shard(Int)
        /// A link to one master of a cluster, at `host:port`: `subscriber@host:port`, `shard-0@host:port`.
        indirect case master(Part, at: String)

        /// The part's name in `/readyz` and in the log, such as `shard-0`.
        public var name: String {
            switch self {
            case .node: "node"
            case .subscriber: "subscriber"
            case .shard(let index): "shard-\(index)"
            case .master(let part, let address): part.name + "@" + address
            }
        }

        /// The shard of a subscriber link, whose name does not say it; otherwise `nil`.
        public var shard: Int? {
            switch self {
            case .subscriber(let index): index
            case .master(let part, _): part.shard
            case .node, .shard: nil
            }
        }
    }

    /// The part that is not ready.
    public let part: Part
    /// The cause, from a closed table.
    public let reason: NotReadyReason
    /// Text of the server or the system, for the log only.
    public var detail = ""

    /// A condition of one part; `detail` never reaches a client.
    public init(_ part: Part, _ reason: NotReadyReason, detail: String = "") {
        self.part = part
        self.reason = reason
        self.detail = detail
    }
}
