import Configuration
import Core
import Glibc
import Reactors
import Service
import Synchronization

/// Whether the process uses so much memory that new clients must be refused.
///
/// The needs of connected clients are bounded elsewhere. A node close to its bound keeps them and refuses the next,
/// rather than be killed with all of them. The file it reads stays open, so that a look needs no descriptor.
/// Thread: ``look()`` from one, the rest from any.
public final class MemoryWatch: Sendable {
    /// Resident bytes beyond which memory is short.
    let boundBytes: Int
    private let statm: Int32
    private let resident = Atomic<Int>(0)
    private let short = Atomic<Bool>(false)

    private static let pageBytes = max(sysconf(Int32(_SC_PAGESIZE)), 1)

    /// Memory is short beyond `boundBytes` resident bytes; `/proc/self/statm` stays open for the whole life.
    public init(boundBytes: Int) {
        self.boundBytes = boundBytes
        // Without /proc the use is unknown, and memory never counts as short.
        statm = (try? retrying { unsafe open("/proc/self/statm", O_RDONLY | O_CLOEXEC) }) ?? -1
    }

    /// Resident bytes at the last look.
    public var residentBytes: Int { resident.load(ordering: .relaxed) }

    /// Whether new clients must be refused.
    public var isShort: Bool { short.load(ordering: .relaxed) }

    /// Reads the use again; true when ``isShort`` has changed.
    func look() -> Bool {
        guard let bytes = read() else { return false }
        resident.store(bytes, ordering: .relaxed)
        let now = MemoryWatch.isShort(bytes, boundBytes: boundBytes, wasShort: isShort)
        return short.exchange(now, ordering: .relaxed) != now
    }

    /// Memory is short beyond the bound, and stays so until 95 % of it.
    static func isShort(_ bytes: Int, boundBytes: Int, wasShort: Bool) -> Bool {
        bytes > (wasShort ? boundBytes / 100 * 95 : boundBytes)
    }

    /// The second number of proc_pid_statm(5), in pages.
    private func read() -> Int? {
        var text = [UInt8](repeating: 0, count: 128)
        let count = unsafe pread(statm, &text, text.count, 0)
        guard count > 0 else { return nil }
        let fields = text[..<count].split(separator: UInt8(ascii: " "))
        guard fields.count > 1, let pages = Int(String(decoding: fields[1], as: UTF8.self)) else { return nil }
        return pages * MemoryWatch.pageBytes
    }

    deinit {
        _ = Glibc.close(statm)
    }

    // MARK: The bound

    /// The bound that a limit means: itself, or for 0 three quarters of the available memory.
    public static func bound(_ limit: Int) -> Int {
        guard limit == 0 else { return limit }
        let machine = max(sysconf(Int32(_SC_PHYS_PAGES)), 1) * pageBytes
        return min(machine, groupBytes() ?? machine) / 4 * 3
    }

    /// The smallest bound of the process's control groups, of either version; `nil` without one.
    private static func groupBytes() -> Int? {
        guard let groups = try? Files.read("/proc/self/cgroup", bytesMax: 65_536) else { return nil }
        var smallest: Int?
        for file in groups.split(separator: UInt8(ascii: "\n")).flatMap({
            boundFiles(String(decoding: $0, as: UTF8.self))
        }) {
            guard let text = try? Files.read(file, bytesMax: 64),
                let bytes = Int(String(decoding: text.filter { $0 > 0x20 }, as: UTF8.self))
            else { continue }
            smallest = min(smallest ?? bytes, bytes)
        }
        return smallest
    }

    /// The files with the bounds of a line of cgroup(7), from the group up to the root.
    static func boundFiles(_ line: String) -> [String] {
        let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return [] }
        let root: String
        let name: String
        if parts[1].isEmpty {
            (root, name) = ("/sys/fs/cgroup", "memory.max")
        } else if parts[1].split(separator: ",").contains("memory") {
            (root, name) = ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
        } else {
            return []
        }
        let steps = parts[2].split(separator: "/")
        return (0...steps.count).reversed().map { depth in
            ([root] + steps[..<depth].map { String($0) } + [name]).joined(separator: "/")
        }
    }
}
