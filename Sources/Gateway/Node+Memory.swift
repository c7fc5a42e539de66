import Configuration
import Reactors
import Service

extension Node {
    /// Looks at the memory, four times a second; tells admission, readiness and the log when it has changed.
    func lookAtMemory() {
        guard memory.look() else { return }
        admission.memoryIsShort(memory.isShort)
        let figures = [("residentBytes", "\(memory.residentBytes)"), ("boundBytes", "\(memory.boundBytes)")]
        health.set(.memory, memory.isShort ? .red(figures: figures) : .fine(figures: figures))
    }

    /// Looks at the loops of the shards; each wakes at least every half second, and a stuck one serves nobody.
    func lookAtLoops() {
        let nowMs = Clock.monotonicMs()
        let ageMs = shardStatistics.all.map(\.loop.lastTickMs.value).filter { $0 > 0 }.map { nowMs - $0 }.max() ?? 0
        health.set(.loop, ageMs > Node.stuckMs ? .red(figures: [("lastTickMs", "\(ageMs)")]) : .fine())
    }

    private static let stuckMs = 2_000
}
