/// One identity's set of topics on a connection (design section 15).
///
/// Native and Phoenix connections have one door, a Socket.IO connection has one for each namespace. A topic may be
/// joined through several doors of a connection; its events come once through each.
public struct Door: Hashable, Sendable {
    /// Its number, unique on the connection and never used again there.
    public let number: Int

    /// The door with that number.
    public init(_ number: Int) {
        self.number = number
    }

    /// The only door of dialects that have one.
    public static let main = Door(0)
}
