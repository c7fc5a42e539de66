import Commands
import Core
import Dialects
import EventLogs
import Rights

/// The log as sessions use it.
extension EventLog: LogAccess {
    func publish(
        _ request: PublishRequest, id: PublishID?, origin: EchoExclusion?, payer: Payer,
        _ completion: @escaping (Result<Position, Refusal>) -> Void
    ) {
        publish(request.topic, request.event, request.data, id, origin: origin, payer: payer) {
            completion($0.map(\.position))
        }
    }
}
