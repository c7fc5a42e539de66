/// One tag of a header with its line.
public struct HeaderTag: Equatable, Sendable {
    /// The line, from 1.
    public let line: Int
    /// The tag's name.
    public let tag: ScriptTag
    /// The tag's value.
    public let value: TagValue
}
