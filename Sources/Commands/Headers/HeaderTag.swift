/// One tag of a header and where it stands.
public struct HeaderTag: Equatable, Sendable {
    /// The line, from 1.
    public let line: Int
    /// What it says.
    public let value: TagValue
}
