import Core
import Glibc
import Reactors

/// The kernel's figures of a process: `/proc/<pid>` (proc(5)).
struct ProcessFigures {
    /// Bytes of memory that the process does not share (smaps_rollup: Private_Clean + Private_Dirty).
    let privateBytes: Int
    /// Seconds of CPU used, user and system.
    let cpuSeconds: Double
    /// Open file descriptors.
    let descriptors: Int

    /// Reads the current figures.
    init(pid: Int32) throws(BenchFailure) {
        var kilobytes = 0
        for line in try ProcessFigures.read("/proc/\(pid)/smaps_rollup").split(separator: "\n")
        where line.hasPrefix("Private_Clean:") || line.hasPrefix("Private_Dirty:") {
            kilobytes += line.split(separator: " ").compactMap { ASCII.decimal(Array($0.utf8)) }.first ?? 0
        }
        privateBytes = kilobytes * 1_024
        // The second field, the program's name in parentheses, may contain spaces.
        let stat = try ProcessFigures.read("/proc/\(pid)/stat").split(separator: ")").last ?? ""
        let fields = stat.split(separator: " ")
        guard fields.count > 12, let user = ASCII.decimal(Array(fields[11].utf8)),
            let system = ASCII.decimal(Array(fields[12].utf8))
        else { throw BenchFailure("/proc/\(pid)/stat is not understood") }
        cpuSeconds = Double(user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
        descriptors = ProcessFigures.countEntries("/proc/\(pid)/fd")
    }

    private static func read(_ path: String) throws(BenchFailure) -> String {
        do {
            let raw = try retrying { unsafe open(path, O_RDONLY | O_CLOEXEC) }
            let descriptor = FileDescriptor(owning: raw)
            var text: [UInt8] = []
            var chunk = [UInt8](repeating: 0, count: 4_096)
            while true {
                let count = try retrying { unsafe Glibc.read(descriptor.raw, &chunk, chunk.count) }
                guard count > 0 else { return String(decoding: text, as: UTF8.self) }
                text.append(contentsOf: chunk[..<count])
            }
        } catch {
            throw BenchFailure("\(path): \(error)")
        }
    }

    private static func countEntries(_ path: String) -> Int {
        guard let directory = unsafe opendir(path) else { return 0 }
        defer { unsafe closedir(directory) }
        var count = 0
        while unsafe readdir(directory) != nil { count += 1 }
        return max(count - 2, 0)
    }
}
