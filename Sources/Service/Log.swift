public import Configuration
import Core
import Glibc
public import Reactors
import Synchronization

/// The log: one line per change of state, `key=value` text or JSON, to standard error.
///
/// Lines go to a thread of their own through a bounded mailbox, so that a blocked pipe never blocks a reactor; what
/// does not fit is dropped and counted. Values are escaped: a client can forge no line. Thread: `write` from any.
public final class Log: Sendable {
    private let format: LogFormat
    private let level: LogLevel
    private let wake: Wake
    private let mailbox: Mailbox<[UInt8]>
    private let droppedCount = Atomic<Int>(0)
    private let isStopping = Atomic<Bool>(false)
    private let writer = Guarded<Reactors.Thread?>(nil)
    private let ended: Wake

    /// Starts the writer thread.
    public init(format: LogFormat, level: LogLevel, linesMax: Int) throws(Errno) {
        self.format = format
        self.level = level
        wake = try Wake()
        ended = try Wake()
        mailbox = Mailbox(capacity: linesMax, wake: wake)
        let thread = try Reactors.Thread.start("log") { [self] in run() }
        writer.withLock { $0 = thread }
    }

    /// Starts the log of a process.
    public static func make(_ format: LogFormat, _ level: LogLevel, linesMax: Int) throws(StartProblem) -> Log {
        do {
            return try Log(format: format, level: level, linesMax: linesMax)
        } catch {
            throw StartProblem("cannot start the log: \(error)")
        }
    }

    /// Lines dropped because the reader of the log was too slow.
    public var dropped: Int { droppedCount.load(ordering: .relaxed) }

    /// Whether lines of this importance are written.
    public func takes(_ severity: LogLevel) -> Bool { severity <= level }

    /// Writes a line; fields in the order given.
    ///
    /// Never blocks.
    public func write(_ severity: LogLevel, _ message: String, _ fields: [(String, String)]) {
        guard severity <= level else { return }
        if !mailbox.send(line(severity, message, fields)) { droppedCount.add(1, ordering: .relaxed) }
    }

    /// Writes what is waiting and ends the thread.
    ///
    /// A log that nobody reads must not keep the process: what cannot be written in two seconds is given up, and the
    /// thread with it.
    public func close() {
        isStopping.store(true, ordering: .releasing)
        wake.signal()
        writer.withLock { thread in
            if thread != nil && ended.wait(timeoutMs: 2_000) { thread?.join() } else { thread?.detach() }
            thread = nil
        }
    }

    private func run() {
        var lines: [[UInt8]] = []
        while true {
            wake.wait()
            // Read before the drain: what was written before the stop is in the mailbox by now.
            let stopping = isStopping.load(ordering: .acquiring)
            mailbox.drain(into: &lines)
            for line in lines { Log.writeAll(line) }
            lines.removeAll(keepingCapacity: true)
            if stopping { return ended.signal() }
        }
    }

    private static func writeAll(_ line: [UInt8]) {
        var offset = 0
        while offset < line.count {
            let start = offset
            let count = unsafe line.withUnsafeBytes { bytes in
                unsafe Glibc.write(STDERR_FILENO, bytes.baseAddress?.advanced(by: start), line.count - start)
            }
            // A closed log has nobody to tell; the service goes on.
            guard count > 0 || Errno.current.code == EINTR else { return }
            offset += max(count, 0)
        }
    }

    private func line(_ severity: LogLevel, _ message: String, _ fields: [(String, String)]) -> [UInt8] {
        var line: [UInt8] = []
        let time = Timestamp.text(wallMs: Clock.wallMs())
        switch format {
        case .json:
            line.append(text: "{\"time\":\"\(time)\",\"level\":\"\(severity.rawValue)\",\"message\":")
            line.append(jsonString: message)
            for (name, value) in fields {
                line.append(text: ",\"\(name)\":")
                line.append(jsonString: value)
            }
            line.append(text: "}\n")
        case .text:
            line.append(text: "\(time) \(severity.rawValue) \(message)")
            for (name, value) in fields {
                line.append(text: " \(name)=")
                let isPlain = !value.isEmpty && value.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != 0x22 }
                if isPlain { line.append(text: value) } else { line.append(jsonString: value) }
            }
            line.append(text: "\n")
        }
        return line
    }
}
