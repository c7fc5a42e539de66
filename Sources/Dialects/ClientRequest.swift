/// What a client asks, in any dialect.
public struct ClientRequest: Equatable, Sendable {
    /// What is to be done.
    public let command: ClientCommand
    /// What the answer must carry back; `nil` when the client wants no correlation.
    public let ref: Reference?

    /// Makes a request.
    public init(command: ClientCommand, ref: Reference?) {
        self.command = command
        self.ref = ref
    }
}
