import Calls
import Commands
import Core
import Dialects
import EventLogs
import Rights
import Sessions

/// The commands of a shard as its sessions call them.
///
/// Thread: the shard's.
final class SessionCommands: CommandAccess {
    private let commands: CommandService
    private let store: EventLog

    init(_ commands: CommandService, _ store: EventLog) {
        self.commands = commands
        self.store = store
    }

    func run(
        _ name: String, _ arguments: CommandArguments, operation: OperationID?, scope: [UInt8], lane: UInt64,
        caller: Caller, payer: Payer,
        _ completion: @escaping (Result<[UInt8], Refusal>) -> Void
    ) {
        var request = CommandService.Request(body: arguments.object, operation: operation, scope: scope, lane: lane)
        request.payer = payer
        request.known = arguments.known
        commands.perform(name, request, caller: caller) { completion($0.map(\.json)) }
    }

    /// Commands and publishes share the lanes of one link.
    func newLane() -> UInt64 { store.newLane() }

    func came(_ user: [UInt8]) { commands.came(user) }

    func left(_ user: [UInt8]) { commands.left(user) }
}
