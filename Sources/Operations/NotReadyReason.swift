public import RedisLink

/// The reasons for which a node is not ready: the closed table of docs/readiness.md.
public enum NotReadyReason: Hashable, Sendable {
    /// The node is shutting down.
    case draining
    /// The state is not known yet.
    case starting
    /// The link is being dialled.
    case connecting
    /// The link is up, and Redis has not confirmed the subscription to probes.
    case subscribing
    /// The link is up, and no probe has returned since.
    case unproven
    /// A probe did not return in time.
    case probeLost
    /// The links lead to different Redis processes.
    case redisMismatch
    /// The shard's thread could not start.
    case shardFailed
    /// Slots of the cluster have no master.
    case slotsUncovered
    /// A row of readiness of the whole node is red.
    case row(ReadinessRow)
    /// The link failed for this reason.
    case redis(RedisFailure.Kind)

    /// Every reason.
    static let all: [NotReadyReason] =
        [
            .draining, .starting, .connecting, .subscribing, .unproven, .probeLost, .redisMismatch,
            .shardFailed, .row(.loop), .row(.descriptors), .row(.memory), .row(.rights), .row(.clock),
            .slotsUncovered,
        ] + RedisFailure.Kind.allCases.map { .redis($0) }

    /// The reason's name in the table.
    public var label: String {
        switch self {
        case .draining: "draining"
        case .starting: "starting"
        case .connecting: "connecting"
        case .subscribing: "subscribing"
        case .unproven: "unproven"
        case .probeLost: "probe_lost"
        case .redisMismatch: "redis_mismatch"
        case .shardFailed: "shard_failed"
        case .row(.loop): "loop_stuck"
        case .row(let row): row.rawValue
        case .slotsUncovered: "slots_uncovered"
        case .redis(let kind): kind.rawValue
        }
    }

    /// Whether it is a fault, rather than a normal step.
    public var isFailure: Bool {
        switch self {
        case .draining, .starting, .connecting, .subscribing, .unproven: false
        case .probeLost, .redisMismatch, .shardFailed, .row, .slotsUncovered, .redis: true
        }
    }
}

extension RedisFailure {
    /// The failure of a link that is closed for this reason.
    public init(_ reason: NotReadyReason) {
        switch reason {
        case .redis(let kind): self.init(kind, detail: "another link of this node found it")
        case .redisMismatch: self.init(.disconnected, detail: "links lead to different servers")
        default: self.init(.timedOut, detail: "a delivery probe did not come back")
        }
    }
}
