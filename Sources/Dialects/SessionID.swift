/// The number of a session: one identity's set of topics on a connection.
///
/// Native and Phoenix connections have one session, a Socket.IO connection has one for each namespace. A topic may be
/// joined through several sessions of a connection; each of them receives its events once.
public struct SessionID: Hashable, Sendable {
    /// The number, unique on the connection and never used again there.
    public let number: Int

    /// The session with that number.
    public init(_ number: Int) {
        self.number = number
    }

    /// The only session of dialects that have one.
    public static let main = SessionID(0)
}
