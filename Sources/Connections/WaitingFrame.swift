/// The bound that a slow reader has reached.
public enum OutboundBound: Sendable {
    /// The bytes waiting for the connection.
    case bytes
    /// The age of the oldest of them.
    case age
    /// No byte could be written for twice that age.
    case stuck
    /// The bytes waiting for all connections together, this one's queue being among the largest.
    case total
}

/// One frame of a connection's queue, for the code that thins it.
public struct WaitingFrame {
    /// The frame's item; `nil` for answers and the like.
    public let item: OutboundItem?
    /// The time at which it was queued, monotonic milliseconds.
    public let enqueuedMs: Int
    /// Whether it belongs to a backlog that the peer requested.
    public let isBacklog: Bool
    /// Whether its write has begun, so that it must stay.
    public let hasBegun: Bool
}

@available(*, unavailable)
extension WaitingFrame: Sendable {}

/// The fate of a waiting frame.
public enum FrameFate {
    /// It stays.
    case keep
    /// It is removed: a newer one replaces it.
    case conflate
    /// It is removed, and another frame takes its place.
    case replace([UInt8], OutboundItem)
}

@available(*, unavailable)
extension FrameFate: Sendable {}
