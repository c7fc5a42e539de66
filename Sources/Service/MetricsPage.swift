import Core
public import Reactors

/// Writes one page of metrics in the text format of Prometheus, version 0.0.4.
public struct MetricsPage {
    /// The page so far.
    public private(set) var bytes: [UInt8] = []

    /// An empty page.
    public init() {}

    /// Writes a number that rises and falls.
    public mutating func gauge(_ name: String, _ value: Int) {
        head(name, .gauge)
        bytes.append(text: "\(name) \(value)\n")
    }

    /// Writes a number with a fraction that rises and falls.
    public mutating func gauge(_ name: String, _ value: Double) {
        head(name, .gauge)
        bytes.append(text: "\(name) \(value)\n")
    }

    /// Writes numbers that rise and fall, distinguished by one label.
    public mutating func gauge(_ name: String, _ values: [(label: String, value: String, count: Int)]) {
        head(name, .gauge)
        lines(name, values)
    }

    /// Writes a number that rises and falls for the whole, and its parts, distinguished by one label.
    public mutating func gauge(
        _ name: String, _ whole: Int, and parts: [(label: String, value: String, count: Int)]
    ) {
        gauge(name, whole)
        lines(name, parts)
    }

    /// Writes a time that rises and falls; given in milliseconds, written in seconds.
    public mutating func gauge(_ name: String, milliseconds: Int) {
        gauge(name, Double(milliseconds) / 1_000)
    }

    /// Writes a number that only grows.
    public mutating func counter(_ name: String, _ value: Int) {
        head(name, .counter)
        bytes.append(text: "\(name) \(value)\n")
    }

    /// Writes a number with a fraction that only grows.
    public mutating func counter(_ name: String, _ value: Double) {
        head(name, .counter)
        bytes.append(text: "\(name) \(value)\n")
    }

    /// Writes numbers that only grow, distinguished by one label.
    public mutating func counter(_ name: String, _ values: [(label: String, value: String, count: Int)]) {
        head(name, .counter)
        lines(name, values)
    }

    /// Writes durations of one or several threads by upper bound, in seconds; the bounds are those of the first.
    public mutating func histogram(_ name: String, _ parts: [DurationHistogram]) {
        head(name, .histogram)
        let boundsUs = parts.first?.boundsUs ?? []
        var counts = Array(repeating: 0, count: boundsUs.count + 1)
        for part in parts { for (index, count) in part.counts.enumerated() { counts[index] += count } }
        var total = 0
        for (bound, count) in zip(boundsUs, counts) {
            total += count
            bytes.append(text: "\(name)_bucket{le=\"\(Double(bound) / 1_000_000)\"} \(total)\n")
        }
        total += counts.last ?? 0
        bytes.append(text: "\(name)_bucket{le=\"+Inf\"} \(total)\n")
        let sumUs = parts.reduce(0) { $0 + $1.sumUs.value }
        bytes.append(text: "\(name)_sum \(Double(sumUs) / 1_000_000)\n\(name)_count \(total)\n")
    }

    private mutating func lines(_ name: String, _ values: [(label: String, value: String, count: Int)]) {
        for entry in values { bytes.append(text: "\(name){\(entry.label)=\"\(entry.value)\"} \(entry.count)\n") }
    }

    /// Writes the description of a family, which the table of metrics has.
    private mutating func head(_ name: String, _ kind: MetricFamily.Kind) {
        guard let family = MetricFamily.named[name], family.kind == kind else {
            preconditionFailure("the table of metrics has no \(kind) \(name)")
        }
        bytes.append(text: "# HELP \(name) \(family.help)\n# TYPE \(name) \(kind.rawValue)\n")
    }
}
