/// What a command answered.
public struct CommandAnswer: Equatable, Sendable {
    /// One JSON object, checked.
    public let json: [UInt8]
    /// Whether the operation was done before: this is its first answer, and nothing has changed.
    public let isRetry: Bool
    /// How many events and calls it led to, beside the answer; 0 for a retry.
    public let effects: Int
}
