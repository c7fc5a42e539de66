/// The servers that links lead to now; one thread finds them, and passes them to the others.
public enum Placement: Equatable, Sendable {
    /// The master behind a group of Sentinels.
    case servers(ServerMap)
    /// The masters of a cluster with their slots.
    case slots(SlotMap)

    /// The number of the map; a later one has a greater number.
    public var generation: Int {
        switch self {
        case .servers(let map): map.generation
        case .slots(let map): map.generation
        }
    }
}

/// The result of a question about the placement.
public enum PlacementUpdate: Sendable {
    /// The present placement; behind Sentinels after every question, on a cluster after a change.
    case placed(Placement)
    /// A report of the watch of Sentinels, for the log.
    case sentinels(SentinelWatch.Event)
    /// No node of a cluster could be asked; the failure is that of the last one.
    case unreachable(RedisFailure)
    /// Slots without a master, and slots that are open because they are being moved.
    case damaged(uncovered: [ClosedRange<Int>], open: [Int])
}

/// Finds the placement for the links of a process or a thread.
///
/// Thread: the reactor's.
public protocol PlacementWatch: AnyObject {
    /// The present placement.
    var placement: Placement { get }
    /// Takes a reason to ask for the servers.
    func hint(_ hint: ServerHint)
    /// Ends the watch.
    func stop()
}
