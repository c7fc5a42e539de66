import Commands
import Connections
import Core
import Dialects
import Rights

@testable import Sessions
@testable import Topics

/// The services of a shard's model: nothing that sessions only report is looked at, and whatever they ask is granted.
protocol QuietServices: LogAccess, PresenceAccess, CommandAccess, CallerAccess, SessionReporting, SessionBudget {}

extension QuietServices {
    // MARK: Log

    func isMember(_ topic: Topic, user: [UInt8], _ completion: @escaping (Result<Bool, Refusal>) -> Void) {
        completion(.success(false))
    }
    func follows(_ topic: Topic, _ completion: @escaping (Result<[Topic], Refusal>) -> Void) {
        completion(.success([]))
    }
    func replay(
        _ topic: Topic, _ wanted: ReplayRequest, asker: ReadCaller,
        _ completion: @escaping (Result<Replay, Refusal>) -> Void
    ) {
        completion(.success(Replay(position: nil, events: [])))
    }
    func publish(
        _ request: PublishRequest, id: PublishID?, excluding origin: EchoExclusion?, payer: Payer,
        _ completion: @escaping (Result<Position, Refusal>) -> Void
    ) {
        completion(.failure(Refusal(.unavailable, "")))
    }

    // MARK: Presence

    func watch(_ listener: any PresenceListener, _ topic: Topic, payer: Payer) {}
    func track(
        _ listener: any PresenceListener, _ request: TrackRequest, user: [UInt8]?, payer: Payer,
        _ completion: @escaping (Result<PresenceID, Refusal>) -> Void
    ) {}
    func untrack(
        _ listener: any PresenceListener, _ topic: Topic,
        _ completion: @escaping (Result<PresenceID, Refusal>) -> Void
    ) {}
    func left(_ listener: any PresenceListener, _ topic: Topic) {}

    // MARK: Commands

    func run(
        _ name: String, _ arguments: CommandArguments, operation: OperationID?, scope: [UInt8], lane: UInt64,
        caller: Caller, payer: Payer, _ completion: @escaping (Result<[UInt8], Refusal>) -> Void
    ) {}
    func newLane() -> UInt64 { 1 }
    func came(_ user: [UInt8]) {}
    func left(_ user: [UInt8]) {}

    // MARK: Callers

    func verify(_ token: [UInt8]) -> Result<Identity, TokenFailure> { .failure(.shape) }
    func admit(_ caller: Caller, showing token: [UInt8]?, at address: IPAddress?) -> Result<Caller, Refusal> {
        .success(caller)
    }
    func payer(_ caller: Caller, at address: IPAddress?) -> Payer { caller.payer(from: address) }

    // MARK: Reports

    func count(_ figure: SessionFigure) {}
    func log(_ trouble: SessionTrouble, of session: Session) {}
    func undeliverable(_ delivery: Delivery) { delivery.counts.countUndeliverable() }

    // MARK: Budget

    func charge(_ cost: SessionCost, _ caller: Caller) -> Int? { nil }
    func payJoin(_ topic: Topic, _ caller: Caller, at address: IPAddress?) -> Refusal? { nil }
    func room(at address: IPAddress?) -> Int { Int.max }
    func hold(_ count: Int, at address: IPAddress?) {}
}
