import Core
import Reactors
import Service

/// The CPU time of some processes, to the nanosecond (`/proc/PID/task/*/schedstat`, proc(5)).
///
/// `/proc/PID/stat` counts only ticks of 10 ms.
struct CPUClock {
    let pids: [Int32]

    private static let threadsMax = 4_096

    /// Nanoseconds that the processes' current threads have run; those of an ended process count as 0.
    func nanoseconds() -> Int {
        var sum = 0
        for pid in pids {
            let tasks = (try? Files.names(in: "/proc/\(pid)/task", max: CPUClock.threadsMax)) ?? []
            for task in tasks {
                guard let text = try? Files.read("/proc/\(pid)/task/\(task)/schedstat", bytesMax: 4_096) else {
                    continue
                }
                sum += ASCII.decimal(text.prefix { $0 != 0x20 }) ?? 0
            }
        }
        return sum
    }
}
