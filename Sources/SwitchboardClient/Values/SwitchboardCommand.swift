/// A call of a command: its arguments, and the type of its answer.
///
/// `switchboard types swift` writes such types.
public protocol SwitchboardCommand: Encodable, Sendable {
    /// The type of the answer.
    associatedtype Answer: Decodable & Sendable
    /// The command's name.
    static var commandName: String { get }
}

extension SwitchboardClient {
    /// Runs a command, and returns its answer.
    ///
    /// It is sent under one `id` until it is answered, refused or too old.
    public func call<Command: SwitchboardCommand>(
        _ command: Command, id: String = SwitchboardClient.newID(), options: CallOptions = CallOptions()
    ) async throws(SwitchboardError) -> Command.Answer {
        try await call(Command.commandName, command, id: id, options: options, returning: Command.Answer.self)
    }
}
