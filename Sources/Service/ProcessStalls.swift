public import Reactors

/// Counts of how often, and for how long, the whole process stood still.
///
/// Thread: main counts, any reads.
public final class ProcessStalls: Sendable {
    /// Stalls since the start.
    public let count = Counter()
    /// Milliseconds of all stalls together.
    public let standingMs = Counter()

    /// None yet.
    public init() {}
}

extension MetricsPage {
    /// Writes how often the process stood still, and for how long.
    public mutating func tell(_ stalls: ProcessStalls) {
        counter(
            "switchboard_process_stalls_total", "Times the whole process stood still for two seconds or longer.",
            stalls.count.value)
        counter(
            "switchboard_process_stall_milliseconds_total", "Milliseconds for which it stood still.",
            stalls.standingMs.value)
    }
}
