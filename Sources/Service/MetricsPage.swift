import Core

/// Writes one page of metrics in the text format of Prometheus, version 0.0.4.
public struct MetricsPage {
    /// The page so far.
    public private(set) var bytes: [UInt8] = []

    /// An empty page.
    public init() {}

    /// Writes a number that rises and falls.
    public mutating func gauge(_ name: String, _ help: String, _ value: Int) {
        head(name, help, "gauge")
        bytes.append(text: "\(name) \(value)\n")
    }

    /// Writes numbers that rise and fall, distinguished by one label.
    public mutating func gauge(_ name: String, _ help: String, _ values: [(label: String, value: String, count: Int)]) {
        head(name, help, "gauge")
        for entry in values { bytes.append(text: "\(name){\(entry.label)=\"\(entry.value)\"} \(entry.count)\n") }
    }

    /// Writes a number that rises and falls for the whole, and its parts, distinguished by one label.
    public mutating func gauge(
        _ name: String, _ help: String, _ whole: Int, and parts: [(label: String, value: String, count: Int)]
    ) {
        gauge(name, help, whole)
        for entry in parts { bytes.append(text: "\(name){\(entry.label)=\"\(entry.value)\"} \(entry.count)\n") }
    }

    /// Writes a time that rises and falls; given in milliseconds, written in seconds.
    public mutating func gauge(_ name: String, _ help: String, milliseconds: Int) {
        head(name, help, "gauge")
        bytes.append(text: "\(name) \(Double(milliseconds) / 1_000)\n")
    }

    /// Writes a number that only grows.
    public mutating func counter(_ name: String, _ help: String, _ value: Int) {
        head(name, help, "counter")
        bytes.append(text: "\(name) \(value)\n")
    }

    /// Writes numbers that only grow, distinguished by one label.
    public mutating func counter(_ name: String, _ help: String, _ values: [(label: String, value: String, count: Int)])
    {
        head(name, help, "counter")
        for entry in values { bytes.append(text: "\(name){\(entry.label)=\"\(entry.value)\"} \(entry.count)\n") }
    }

    /// Writes counts by upper bound; given in microseconds, written in seconds.
    public mutating func histogram(_ name: String, _ help: String, boundsUs: [Int], counts: [Int], sumUs: Int) {
        head(name, help, "histogram")
        var total = 0
        for (bound, count) in zip(boundsUs, counts) {
            total += count
            bytes.append(text: "\(name)_bucket{le=\"\(Double(bound) / 1_000_000)\"} \(total)\n")
        }
        total += counts.last ?? 0
        bytes.append(text: "\(name)_bucket{le=\"+Inf\"} \(total)\n")
        bytes.append(text: "\(name)_sum \(Double(sumUs) / 1_000_000)\n\(name)_count \(total)\n")
    }

    private mutating func head(_ name: String, _ help: String, _ type: String) {
        bytes.append(text: "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n")
    }
}
