/// Future happenings in order of time; at one time, in order of addition.
struct DemoAgenda<Happening> {
    private var entries: [(atMs: Int, happening: Happening)] = []

    /// Number of future happenings.
    var count: Int { entries.count }

    /// The time of the next happening.
    var nextMs: Int? { entries.first?.atMs }

    /// Adds a happening behind all others of its time.
    mutating func add(_ happening: Happening, atMs: Int) {
        let index = entries.firstIndex { $0.atMs > atMs } ?? entries.count
        entries.insert((atMs, happening), at: index)
    }

    /// Takes the next happening.
    mutating func popFirst() -> (Int, Happening)? {
        guard let first = entries.first else { return nil }
        entries.removeFirst()
        return (first.atMs, first.happening)
    }
}
