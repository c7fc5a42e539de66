import Core
import Glibc
import Reactors
import Service

/// Samples the memory of some processes many times a second, without stopping them as smaps_rollup does.
///
/// Thread: main.
final class MemoryWatch {
    /// The samples; `us` is microseconds of CLOCK_MONOTONIC.
    private(set) var samples: [(us: Int, bytes: Int)] = []
    private let pids: [Int32]
    private let pageBytes = max(sysconf(Int32(_SC_PAGESIZE)), 1)
    private var timer: ReactorTimer?

    private static let stepMs = 50
    /// An hour of samples.
    private static let samplesMax = 72_000

    init(_ reactor: Reactor, pids: [Int32]) throws(BenchFailure) {
        self.pids = pids
        do {
            timer = try ReactorTimer(reactor) { [unowned self] in look() }
        } catch {
            throw BenchFailure("cannot start: \(error)")
        }
        if !pids.isEmpty { timer?.set(atMs: 0) }
    }

    func stop() { timer?.clear() }

    /// The maximum in a span of time; `nil` without a sample.
    func peak(_ range: Range<Int>) -> Int? {
        samples.filter { range.contains($0.us) && $0.bytes > 0 }.map(\.bytes).max()
    }

    private func look() {
        // A process that has ended has no memory.
        let pages = pids.reduce(0) { $0 + MemoryWatch.privatePages($1) }
        if samples.count < MemoryWatch.samplesMax { samples.append((Clock.monotonicUs(), pages * pageBytes)) }
        timer?.set(atMs: Clock.monotonicMs() + MemoryWatch.stepMs)
    }

    private static func privatePages(_ pid: Int32) -> Int {
        guard let text = try? Files.read("/proc/\(pid)/statm", bytesMax: 4_096) else { return 0 }
        let fields = text.split(separator: 0x20).map { ASCII.decimal($0) ?? 0 }
        return fields.count > 2 ? max(fields[1] - fields[2], 0) : 0
    }
}
