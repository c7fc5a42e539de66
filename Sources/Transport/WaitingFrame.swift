/// Which bound a peer that reads too slowly has reached.
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

/// One frame of a connection's queue, as whoever thins it sees it.
public struct WaitingFrame {
    /// What it stands for; `nil` for answers and the like.
    public let item: OutboundItem?
    /// When it was queued, monotonic milliseconds.
    public let enqueuedMs: Int
    /// Whether the peer asked for it at once.
    public let isOwed: Bool
    /// Whether it has begun to be written, and so must stay.
    public let hasBegun: Bool
}

@available(*, unavailable)
extension WaitingFrame: Sendable {}

/// What is to become of a waiting frame.
public enum FrameFate {
    /// It stays.
    case keep
    /// It goes: a newer one says the same.
    case conflate
    /// It goes, and another frame takes its place.
    case replace([UInt8], OutboundItem)
}

@available(*, unavailable)
extension FrameFate: Sendable {}
