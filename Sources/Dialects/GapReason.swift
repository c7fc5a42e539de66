/// Why a client missed events; raw values go over the wire and into metrics.
public enum GapReason: String, CaseIterable, Sendable {
    /// The client read too slowly and events gave way to newer ones of their kind.
    case conflated
    /// The gateway lost its link to Redis and the log no longer holds all that happened meanwhile.
    case missed
    /// The log began a new epoch: offsets start afresh and older positions are void.
    case reset
}
