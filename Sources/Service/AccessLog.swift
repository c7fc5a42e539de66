public import Configuration
import Glibc
public import Reactors

/// One line for each request and each connection of clients, in a file of its own or on standard output.
///
/// Lines that the disk does not accept in time are dropped and counted; no reactor waits. Thread: any.
public final class AccessLog: Sendable {
    private let path: String
    private let format: LogFormat
    private let writer: LineWriter

    /// The name that stands for standard output.
    private static let standardOutput = "-"

    /// Opens the file to append to it, and starts the writer.
    public init(_ path: String, _ format: LogFormat, linesMax: Int) throws(StartProblem) {
        self.path = path
        self.format = format
        do {
            let isFile = path != AccessLog.standardOutput
            let descriptor = isFile ? try Files.openToAppend(path) : STDOUT_FILENO
            writer = try LineWriter("access-log", to: descriptor, ownsDescriptor: isFile, linesMax: linesMax)
        } catch {
            throw StartProblem.file(path, error)
        }
    }

    /// The number of dropped lines.
    public var dropped: Int { writer.dropped }

    /// Writes a line about an event, with the fields in the given order.
    ///
    /// It never blocks.
    public func write(_ event: String, _ fields: [(String, String)]) {
        writer.write(LogLine.bytes(format, wallMs: Clock.wallMs(), head: [("event", event)], fields))
    }

    /// Opens the file again after another program has moved it; after a failure it continues with the old one.
    public func reopen() throws(Errno) {
        guard path != AccessLog.standardOutput else { return }
        writer.replace(with: try Files.openToAppend(path))
    }

    /// Writes the waiting lines and ends the writer.
    public func close() { writer.close() }
}
