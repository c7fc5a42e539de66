public import Commands
public import Core
public import Dialects
public import Rights

/// Commands and heartbeats, for sessions.
///
/// Thread: the shard's.
public protocol CommandAccess: AnyObject {
    /// Runs a command.
    func run(
        _ name: String, _ arguments: CommandArguments, operation: OperationID?, scope: [UInt8], lane: UInt64,
        caller: Caller, payer: Payer,
        _ completion: @escaping (Result<[UInt8], Refusal>) -> Void)
    /// A new lane number for commands that keep their order.
    func newLane() -> UInt64
    /// A connection of a user was opened.
    func came(_ user: [UInt8])
    /// A connection of a user was closed.
    func left(_ user: [UInt8])
}
