/// The counts and measurements of a process since its last report.
///
/// They are additive, so that those of several processes and seconds are merged without loss.
struct RunFigures: Codable {
    // Publishers; of those due in the measured window.
    var published = 0
    var refused = 0
    /// Deliveries that must arrive.
    var expected = 0
    /// From when a publish was due until its answer.
    var answer = LatencyHistogram()
    /// From when a publish was due until it was sent: the tool's own delay, part of every latency.
    var late = LatencyHistogram()

    // Clients; of messages due in the measured window.
    /// Each number counted once.
    var delivered = 0
    var duplicates = 0
    var reordered = 0
    var latency = LatencyHistogram()
    /// Received while it was measured, whenever it was due: all bytes that TLS carried, and the messages in them.
    var bytes = 0
    var came = 0

    // Clients, at any time.
    /// Messages of live clients without a marker.
    var unmarked = 0
    /// Connections that ended without a request to do so.
    var broken = 0
    /// From connect to live.
    var connect = LatencyHistogram()

    // Clients that call commands.
    var acknowledged = 0
    var commandsRefused = 0

    private static var sums: [WritableKeyPath<RunFigures, Int>] {
        [
            \.published, \.refused, \.expected, \.delivered, \.duplicates, \.reordered, \.bytes, \.came, \.unmarked,
            \.broken, \.acknowledged, \.commandsRefused,
        ]
    }

    private static var histograms: [WritableKeyPath<RunFigures, LatencyHistogram>] {
        [\.answer, \.late, \.latency, \.connect]
    }

    /// Adds all figures of another one.
    mutating func merge(_ other: RunFigures) {
        for sum in RunFigures.sums { self[keyPath: sum] += other[keyPath: sum] }
        for histogram in RunFigures.histograms { self[keyPath: histogram].merge(other[keyPath: histogram]) }
    }

    /// Resets all figures.
    mutating func removeAll() {
        for sum in RunFigures.sums { self[keyPath: sum] = 0 }
        for histogram in RunFigures.histograms { self[keyPath: histogram].removeAll() }
    }
}
