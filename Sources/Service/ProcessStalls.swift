public import Reactors

/// The number and the total time of stalls of the whole process.
///
/// Thread: main counts, any reads.
public final class ProcessStalls: Sendable {
    /// Stalls since the start.
    public let count = Counter()
    /// Milliseconds of all stalls together.
    public let standingMs = Counter()

    /// Begins without stalls.
    public init() {}
}

extension MetricsPage {
    /// Writes the number of stalls, and their total time.
    public mutating func tell(_ stalls: ProcessStalls) {
        counter("switchboard_process_stalls_total", stalls.count.value)
        counter("switchboard_process_stall_milliseconds_total", stalls.standingMs.value)
    }
}
