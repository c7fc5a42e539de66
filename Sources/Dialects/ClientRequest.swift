/// One request of a client, in any dialect.
public struct ClientRequest: Equatable, Sendable {
    /// The action to perform.
    public var command: ClientCommand
    /// The reference that the answer repeats; `nil` when the client wants no correlation.
    public let ref: Reference?
    /// The operation that a command's reference names, so that a retry changes nothing; `nil` when it names none.
    public let operation: OperationName?

    /// Makes a request.
    public init(command: ClientCommand, ref: Reference?, operation: OperationName? = nil) {
        self.command = command
        self.ref = ref
        self.operation = operation
    }
}
