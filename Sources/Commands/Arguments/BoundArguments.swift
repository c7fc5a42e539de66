public import Core

/// The arguments of one call, checked and written the way scripts read them.
public struct BoundArguments: Equatable, Sendable {
    /// One for each declaration, in order: the text for `ARGV`, or `nil` when the body finds none.
    public let values: [[UInt8]?]
    /// The user the call acts for, when an argument or the caller's token names one.
    public let actingUser: [UInt8]?
    /// The member `id`: the caller's own name for this operation.
    public let operation: MessageID?
}
