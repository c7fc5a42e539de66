import Configuration
import Service

/// The state of every row of readiness, and the log line for each change.
///
/// Pure. A row that no watch has set is fine.
public struct ReadinessTable: Sendable {
    /// The current state of a row.
    public struct Entry: Equatable, Sendable {
        /// The promise.
        public let row: ReadinessRow
        /// The last state that a watch reported.
        public var state: RowState
        /// When the state began, milliseconds since 1970; `nil` while the promise has always held.
        public var sinceMs: Int?

        /// The operator's mend.
        public var mend: String { state.mend ?? row.mend }
        /// Whether the promise holds.
        var isFine: Bool { state.severity == .fine }
    }

    /// Every row, in the order of ``ReadinessRow``.
    private(set) var entries = ReadinessRow.allCases.map { Entry(row: $0, state: .fine()) }

    /// Takes the state of a row at `wallMs`, milliseconds since 1970; returns a line when the change is to be logged.
    mutating func set(_ row: ReadinessRow, _ state: RowState, wallMs: Int) -> LogEntry? {
        guard let index = entries.firstIndex(where: { $0.row == row }) else { return nil }
        let before = entries[index].state
        entries[index].state = state
        if state.severity != before.severity { entries[index].sinceMs = wallMs }
        if let sinceMs = state.sinceMs { entries[index].sinceMs = sinceMs }
        return state.isNews(after: before) ? line(entries[index]) : nil
    }

    private func line(_ entry: Entry) -> LogEntry? {
        guard let lines = entry.row.lines else { return nil }
        var fields = [("row", entry.row.rawValue)]
        if !entry.state.cause.isEmpty { fields.append(("reason", entry.state.cause)) }
        fields += entry.state.figures.map { ($0.name, $0.value) }
        guard !entry.isFine else { return LogEntry(.info, lines.mended, fields) }
        fields.append(("mend", entry.mend))
        return LogEntry(entry.state.severity == .red ? .error : .warn, entry.state.line ?? lines.broken, fields)
    }

    /// The entry of a row.
    subscript(row: ReadinessRow) -> Entry? { entries.first { $0.row == row } }

    /// The rows that remove this node from a balancer.
    var red: [ReadinessRow] { entries.filter { $0.state.severity == .red }.map(\.row) }

    /// The faults that all nodes share.
    var warned: [Entry] { entries.filter { $0.state.severity == .warned } }
}
