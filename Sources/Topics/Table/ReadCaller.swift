public import Commands
public import Rights

/// The caller of a read of a topic whose script decides who may join, and may return a different state to each caller.
public struct ReadCaller: Equatable, Sendable {
    public let caller: CommandCaller
    /// The payer whose budget is charged.
    public let payer: Payer

    /// Takes all members.
    public init(caller: CommandCaller, payer: Payer) {
        self.caller = caller
        self.payer = payer
    }
}
