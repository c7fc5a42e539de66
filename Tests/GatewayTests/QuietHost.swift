import Rights
import Transport

@testable import Gateway

/// A model of a shard that looks at nothing which sessions only report.
protocol QuietHost: SessionHost {}

extension QuietHost {
    func newLane() -> UInt64 { 1 }
    func came(_ user: [UInt8]) {}
    func left(_ user: [UInt8]) {}
    func count(_ figure: SessionFigure) {}
    func log(_ message: String, _ failure: TokenFailure) {}
    func undeliverable(_ delivery: Delivery) { delivery.counts.countUndeliverable() }
}
