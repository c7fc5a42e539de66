/// One request of a client, in any dialect.
public struct ClientRequest: Equatable, Sendable {
    /// The action to perform.
    public let command: ClientCommand
    /// The reference that the answer repeats; `nil` when the client wants no correlation.
    public let ref: Reference?

    /// Makes a request.
    public init(command: ClientCommand, ref: Reference?) {
        self.command = command
        self.ref = ref
    }
}
