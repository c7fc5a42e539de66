/// An event that a script may emit.
public struct EmittedEvent: Equatable, Sendable {
    /// The event's name.
    public let name: String
    /// The type of its data, and the circumstances in which it is emitted.
    public internal(set) var data: DeclaredValue
}
