/// The reason why a client missed events; raw values go over the wire and into metrics.
public enum GapReason: String, CaseIterable, Sendable {
    /// The client read too slowly, and newer events replaced older ones of their kind in its queue.
    case conflated
    /// The gateway lost its link to Redis, and the log no longer holds all events of that time.
    case missed
    /// The log began a new epoch: offsets restart and older positions are void.
    case reset
}
