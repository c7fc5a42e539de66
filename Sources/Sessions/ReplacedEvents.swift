public import Core
import Traces

/// The offsets of one topic that newer events replaced in a queue; bounded.
public struct ReplacedEvents {
    let epoch: [UInt8]
    private(set) var ranges: [ClosedRange<Int>] = []
    /// Whether every offset of the ranges was replaced.
    private(set) var isWhole = true

    /// No event yet.
    public init(epoch: [UInt8]) {
        self.epoch = epoch
    }

    /// Adds an event behind those before it; one of another epoch is left out.
    public mutating func add(_ position: Position) {
        guard position.epoch == epoch else { return }
        guard let last = ranges.last else { return ranges.append(position.offset...position.offset) }
        if position.offset == last.upperBound + 1 || ranges.count == TraceEntry.rangesMax {
            isWhole = isWhole && position.offset == last.upperBound + 1
            ranges[ranges.count - 1] = min(last.lowerBound, position.offset)...max(last.upperBound, position.offset)
        } else {
            ranges.append(position.offset...position.offset)
        }
    }
}
