/// The bytes that wait for one client.
public struct QueueLoad: Equatable, Sendable {
    /// Bytes that wait.
    public let bytes: Int
    /// The time at which the oldest of them was queued, monotonic milliseconds; `nil` when none waits.
    public let oldestMs: Int?

    /// A load; without arguments, that of an empty queue.
    public init(bytes: Int = 0, oldestMs: Int? = nil) {
        (self.bytes, self.oldestMs) = (bytes, oldestMs)
    }
}
