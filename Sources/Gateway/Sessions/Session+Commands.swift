import Commands
import Core
import Dialects
import Reactors

extension Session {
    /// Tells a publisher that its event was committed, and where it stands.
    func published(_ receipt: Store.Receipt, _ ref: Reference?) {
        shard.statistics.webSocketPublishes.add(1)
        send(.published(position: receipt.position), ref: ref)
    }

    /// Runs a command; its answer goes to this client alone.
    func run(_ name: String, _ arguments: CommandArguments, ref: Reference?) {
        if operations.lane == nil { operations.lane = shard.store.newLane() }
        let request = CommandDesk.Request(
            body: arguments.object, operation: ref.flatMap { dialect.operation(of: $0) }.map { operations.id($0) },
            scope: operations.scope, lane: operations.lane)
        shard.commands.perform(name, request, caller: caller) { [self] result in
            switch result {
            case .success(let answer):
                send(.ack(data: answer.json), ref: ref)
            case .failure(let failure):
                refuse(
                    .error(
                        code: failure.code, message: failure.message, topic: nil, retryAfterMs: failure.retryAfterMs),
                    ref: ref)
            }
        }
    }
}
