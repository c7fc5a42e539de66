/// A family of metrics: its description for Prometheus, and that for the reference page `docs/metrics.md`.
public struct MetricFamily: Sendable {
    /// The type of its samples.
    public enum Kind: String, Sendable {
        /// A number that only grows.
        case counter
        /// A number that rises and falls.
        case gauge
        /// Counts by upper bound.
        case histogram
    }

    /// The type of its samples.
    public let kind: Kind
    /// The name, which is part of the interface and never changes.
    public let name: String
    /// The meaning: the text behind `HELP`.
    public let help: String
    /// The names of its labels, in the order in which they are written.
    public let labels: [String]
    /// The action for an operator, in the Markdown of the page; empty where the figure alone asks for none.
    public let mend: String

    static func counter(_ name: String, _ help: String, by labels: [String] = [], mend: String = "") -> MetricFamily {
        MetricFamily(kind: .counter, name: name, help: help, labels: labels, mend: mend)
    }

    static func gauge(_ name: String, _ help: String, by labels: [String] = [], mend: String = "") -> MetricFamily {
        MetricFamily(kind: .gauge, name: name, help: help, labels: labels, mend: mend)
    }

    static func histogram(_ name: String, _ help: String, by labels: [String] = [], mend: String = "") -> MetricFamily {
        MetricFamily(kind: .histogram, name: name, help: help, labels: labels, mend: mend)
    }

    /// The unit, as the name and the meaning tell it.
    public var unit: String {
        let base = kind == .counter && name.hasSuffix("_total") ? String(name.dropLast(6)) : name
        let words = base.split(separator: "_")
        for unit in ["seconds", "milliseconds", "bytes"] where words.contains(where: { $0 == unit }) { return unit }
        return help.hasPrefix("1 ") || help.hasPrefix("1;") || help.contains(": 1 while") ? "0 or 1" : "count"
    }

    /// Every family by its name.
    static let named = Dictionary(uniqueKeysWithValues: MetricGroup.all.flatMap(\.families).map { ($0.name, $0) })
}
