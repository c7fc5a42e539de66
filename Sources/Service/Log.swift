public import Configuration
import Glibc
public import Reactors

/// The log: one line for each change of state, `key=value` text or JSON, to standard error.
///
/// A ``LineWriter`` writes the lines, so that a blocked pipe never blocks a reactor; lines that do not fit are dropped
/// and counted. Thread: `write` from any.
public final class Log: Sendable {
    private let format: LogFormat
    private let level: LogLevel
    private let writer: LineWriter
    /// The writer of errors to standard error, beside a file; `nil` where all lines go there.
    private let errors: LineWriter?

    /// Starts the writer thread.
    public init(format: LogFormat, level: LogLevel, linesMax: Int) throws(Errno) {
        self.format = format
        self.level = level
        writer = try LineWriter("log", to: STDERR_FILENO, ownsDescriptor: false, linesMax: linesMax)
        errors = nil
    }

    /// Starts the writer threads of a log whose lines go to a file, and its errors to standard error as well.
    private init(format: LogFormat, level: LogLevel, linesMax: Int, path: String, tellsErrors: Bool) throws(Errno) {
        self.format = format
        self.level = level
        writer = try LineWriter(
            "log", to: try Files.openToAppend(path), ownsDescriptor: true, linesMax: linesMax)
        errors =
            tellsErrors
            ? try LineWriter("log-errors", to: STDERR_FILENO, ownsDescriptor: false, linesMax: linesMax) : nil
    }

    /// Starts the log of a process; with a path its lines go to that file, and only errors to standard error, if any.
    public static func make(
        _ format: LogFormat, _ level: LogLevel, linesMax: Int, path: String? = nil, tellsErrors: Bool = false
    ) throws(StartProblem) -> Log {
        do {
            guard let path else { return try Log(format: format, level: level, linesMax: linesMax) }
            return try Log(format: format, level: level, linesMax: linesMax, path: path, tellsErrors: tellsErrors)
        } catch {
            throw StartProblem("cannot start the log: \(error)")
        }
    }

    /// The number of lines dropped because the reader of the log was too slow.
    public var dropped: Int { writer.dropped }

    /// Whether lines of this importance are written.
    public func takes(_ severity: LogLevel) -> Bool { severity <= level }

    /// Writes a line, with the fields in the given order.
    ///
    /// It never blocks.
    public func write(_ severity: LogLevel, _ message: String, _ fields: [(String, String)]) {
        guard takes(severity) else { return }
        let head = [("level", severity.rawValue), ("message", message)]
        let line = LogLine.bytes(format, wallMs: Clock.wallMs(), head: head, fields)
        writer.write(line)
        if severity == .error { errors?.write(line) }
    }

    /// Writes the waiting lines and ends the thread; see ``LineWriter/close()``.
    public func close() {
        writer.close()
        errors?.close()
    }
}
