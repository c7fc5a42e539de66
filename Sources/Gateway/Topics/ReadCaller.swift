import Commands
import Rights

/// The caller of a read of a topic whose script decides who may join, and may return a different state to each caller.
struct ReadCaller: Equatable {
    let caller: CommandCaller
    /// The payer whose budget is charged.
    let payer: Payer
}
