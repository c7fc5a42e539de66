/// Pauses before another attempt: uniform from 0 to a ceiling that doubles with each attempt (full jitter).
struct JitteredPause {
    private var ceilingMs = JitteredPause.firstMs

    private static let firstMs = 100
    private static let maxMs = 5_000

    /// The next pause, milliseconds.
    mutating func next() -> Int {
        defer { ceilingMs = min(ceilingMs * 2, JitteredPause.maxMs) }
        return Int.random(in: 0...ceilingMs)
    }

    /// Starts again from the first.
    mutating func succeeded() {
        ceilingMs = JitteredPause.firstMs
    }
}
