import Commands
import Core
import Dialects
import EventLogs
import Rights
public import Sessions

/// The log as sessions use it.
extension EventLog: LogAccess {
    func publish(
        _ request: PublishRequest, id: PublishID?, excluding origin: EchoExclusion?, payer: Payer,
        _ completion: @escaping (Result<Position, Refusal>) -> Void
    ) {
        publish(request, id: id, origin: origin, payer: payer) { completion($0.map(\.position)) }
    }
}
