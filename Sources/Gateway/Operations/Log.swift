public import Configuration
import Core
import Glibc
public import Reactors
import Synchronization

/// The log: one line per change of state, `key=value` text or JSON, to standard output.
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

    /// Starts the writer thread.
    public init(format: LogFormat, level: LogLevel, linesMax: Int) throws(Errno) {
        self.format = format
        self.level = level
        wake = try Wake()
        mailbox = Mailbox(capacity: linesMax, wake: wake)
        let thread = try Reactors.Thread.start("log") { [self] in run() }
        writer.withLock { $0 = thread }
    }

    /// Starts the log of a gateway.
    public static func make(_ settings: GatewaySettings) throws(StartProblem) -> Log {
        do {
            return try Log(format: settings.log, level: settings.logLevel, linesMax: settings.limits.logLinesMax)
        } catch {
            throw StartProblem("cannot start the log: \(error)")
        }
    }

    /// Lines dropped because the reader of the log was too slow.
    public var dropped: Int { droppedCount.load(ordering: .relaxed) }

    /// Writes a line; fields in the order given.
    ///
    /// Never blocks.
    public func write(_ severity: LogLevel, _ message: String, _ fields: [(String, String)]) {
        guard severity <= level else { return }
        if !mailbox.send(line(severity, message, fields)) { droppedCount.add(1, ordering: .relaxed) }
    }

    /// Writes what is waiting and ends the thread.
    public func close() {
        isStopping.store(true, ordering: .releasing)
        wake.signal()
        writer.withLock { thread in
            thread?.join()
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
            if stopping { return }
        }
    }

    private static func writeAll(_ line: [UInt8]) {
        var offset = 0
        while offset < line.count {
            let start = offset
            let count = unsafe line.withUnsafeBytes { bytes in
                unsafe Glibc.write(STDOUT_FILENO, bytes.baseAddress?.advanced(by: start), line.count - start)
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

/// RFC 3339 text of a wall time, in UTC.
enum Timestamp {
    /// `2026-11-20T19:48:59.123Z`.
    ///
    /// Days to date after the proleptic Gregorian calendar.
    static func text(wallMs: Int) -> String {
        let (days, inDay) = (wallMs / 86_400_000, wallMs % 86_400_000)
        // Counting years from March makes the leap day the last of the year.
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        func padded(_ value: Int, _ width: Int) -> String {
            let digits = String(value)
            return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
        }
        let (hour, minute, second) = (inDay / 3_600_000, inDay / 60_000 % 60, inDay / 1_000 % 60)
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T\(padded(hour, 2)):\(padded(minute, 2)):"
            + "\(padded(second, 2)).\(padded(inDay % 1_000, 3))Z"
    }
}
