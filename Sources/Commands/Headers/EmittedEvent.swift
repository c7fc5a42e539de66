/// An event that a script may emit, for the documentation.
public struct EmittedEvent: Equatable, Sendable {
    /// The event's name.
    public let name: String
    /// Its fields in braces, as written.
    public let fields: String
    /// The circumstances in which it is emitted; may be empty.
    public let text: String
}
