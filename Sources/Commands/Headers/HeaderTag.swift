/// One tag of a header with its line.
public struct HeaderTag: Equatable, Sendable {
    /// The line, from 1.
    public let line: Int
    /// The tag's value.
    public let value: TagValue
}
