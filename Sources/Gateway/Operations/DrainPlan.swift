/// Who is closed when during a drain: everybody once, in random order, spread evenly, so that reconnects come at N/T a
/// second and not all at once.
///
/// Pure: time is a parameter, monotonic milliseconds.
struct DrainPlan<ID> {
    private var waiting: ArraySlice<ID>
    private let total: Int
    private let startMs: Int
    private let overMs: Int

    init(_ ids: [ID], nowMs: Int, overMs: Int, using random: inout some RandomNumberGenerator) {
        waiting = ids.shuffled(using: &random)[...]
        total = ids.count
        startMs = nowMs
        self.overMs = max(overMs, 1)
    }

    /// Whether everybody was named.
    var isOver: Bool { waiting.isEmpty }

    /// Those whose turn has come.
    mutating func due(nowMs: Int) -> ArraySlice<ID> {
        let elapsedMs = min(max(nowMs - startMs, 0), overMs)
        let named = total - waiting.count
        let shouldBeNamed = total * elapsedMs / overMs
        let due = waiting.prefix(max(shouldBeNamed - named, 0))
        waiting = waiting.dropFirst(due.count)
        return due
    }
}
