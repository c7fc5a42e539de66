public import Configuration

/// A line for the log, as a pure struct returns it to the class that writes it.
public struct LogEntry: Sendable {
    /// The importance.
    public let level: LogLevel
    /// The message.
    public let text: String
    /// Names and values, in order.
    public let fields: [(String, String)]

    /// A line with its fields in the given order.
    public init(_ level: LogLevel, _ text: String, _ fields: [(String, String)]) {
        (self.level, self.text, self.fields) = (level, text, fields)
    }
}

extension Log {
    /// Writes a line.
    public func write(_ entry: LogEntry) { write(entry.level, entry.text, entry.fields) }
}
