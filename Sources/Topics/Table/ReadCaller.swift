public import Commands
public import Rights

/// The caller of a read of a topic whose script decides who may join, and may return a different state to each caller.
public struct ReadCaller: Equatable, Sendable {
    /// The identity that the script judges.
    public let caller: CommandCaller
    /// The payer whose budget is charged.
    public let payer: Payer

    /// A caller, and the payer of its reads, who may be an address.
    public init(caller: CommandCaller, payer: Payer) {
        self.caller = caller
        self.payer = payer
    }
}
