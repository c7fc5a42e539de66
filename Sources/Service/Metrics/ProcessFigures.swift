import Core
import Glibc

/// The figures of this process that Prometheus's own clients show, from `/proc/self/stat` (proc_pid_stat(5)).
public struct ProcessFigures: Equatable, Sendable {
    /// Processor time in the process's own code and in the kernel, seconds.
    let cpuSeconds: Double
    /// When it started, seconds since the machine did.
    let startedSeconds: Double
    /// Bytes of its address space.
    let virtualBytes: Int
    /// Bytes of it in memory.
    let residentBytes: Int

    /// Reads the line; the name of the program, in parentheses, may have spaces and parentheses itself.
    init?(stat line: [UInt8], ticksPerSecond: Int, pageBytes: Int) {
        guard let end = line.lastIndex(of: UInt8(ascii: ")")), ticksPerSecond > 0 else { return nil }
        // The first of these is the third of the manual page.
        let fields = line[(end + 1)...].split(separator: UInt8(ascii: " ")).map { ASCII.decimal($0) }
        guard fields.count > 21, let user = fields[11], let system = fields[12], let started = fields[19],
            let virtual = fields[20], let pages = fields[21]
        else { return nil }
        cpuSeconds = Double(user + system) / Double(ticksPerSecond)
        startedSeconds = Double(started) / Double(ticksPerSecond)
        virtualBytes = virtual
        residentBytes = pages * pageBytes
    }

    /// The figures of now; `nil` without `/proc`.
    static func read() -> ProcessFigures? {
        guard let line = try? Files.read("/proc/self/stat", bytesMax: 4_096) else { return nil }
        return ProcessFigures(
            stat: line, ticksPerSecond: sysconf(Int32(_SC_CLK_TCK)), pageBytes: sysconf(Int32(_SC_PAGESIZE)))
    }

    /// Processor time of this process so far, milliseconds; `nil` without `/proc`.
    public static var cpuMs: Int? { read().map { Int($0.cpuSeconds * 1_000) } }

    /// When the machine started, seconds since 1970: the line `btime` of `/proc/stat`.
    static let bootSeconds: Int? = {
        guard let text = try? Files.read("/proc/stat", bytesMax: 1 << 20) else { return nil }
        let name = Array("btime ".utf8)
        for line in text.split(separator: UInt8(ascii: "\n")) where line.starts(with: name) {
            return ASCII.decimal(line.dropFirst(name.count))
        }
        return nil
    }()
}

extension MetricsPage {
    /// Writes the figures of the process, as far as the system tells them.
    public mutating func tellProcess() {
        if let figures = ProcessFigures.read() {
            if let boot = ProcessFigures.bootSeconds {
                gauge("process_start_time_seconds", Double(boot) + figures.startedSeconds)
            }
            counter("process_cpu_seconds_total", figures.cpuSeconds)
            gauge("process_resident_memory_bytes", figures.residentBytes)
            gauge("process_virtual_memory_bytes", figures.virtualBytes)
        }
        guard let descriptors = Descriptors.count() else { return }
        gauge("process_open_fds", descriptors.open)
        gauge("process_max_fds", descriptors.limit)
    }
}
