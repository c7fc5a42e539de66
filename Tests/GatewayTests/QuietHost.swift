import Core
import Dialects
import Rights
import Transport

@testable import Gateway

/// A model of a shard that looks at nothing which sessions only report.
protocol QuietHost: SessionHost {}

extension QuietHost {
    func newLane() -> UInt64 { 1 }
    func watchPresence(_ session: Session, _ topic: Topic) {}
    func track(
        _ session: Session, _ request: TrackRequest, user: [UInt8]?,
        _ completion: @escaping (Result<PresenceID, Refusal>) -> Void
    ) {}
    func untrack(_ session: Session, _ topic: Topic, _ completion: @escaping (Result<PresenceID, Refusal>) -> Void) {}
    func leftPresence(_ session: Session, _ topic: Topic) {}
    func replay(
        _ topic: Topic, _ wanted: ReplayRequest, asker: ReadCaller,
        _ completion: @escaping (Result<Replay, Refusal>) -> Void
    ) {
        completion(.success(Replay(position: nil, events: [])))
    }
    func came(_ user: [UInt8]) {}
    func left(_ user: [UInt8]) {}
    func count(_ figure: SessionFigure) {}
    func log(_ trouble: SessionTrouble, of session: Session) {}
    func undeliverable(_ delivery: Delivery) { delivery.counts.countUndeliverable() }
}
