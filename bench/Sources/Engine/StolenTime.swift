import Core
import Service

/// CPU time that a hypervisor withheld from this machine while it had work: `steal` of `/proc/stat` (proc(5)).
///
/// The latencies of a virtual machine that gets less than it requests are its host's, not the target's. The same holds
/// for CPU time where the kernel counts stolen time as a process's own.
struct StolenTime {
    private let stolen: Int
    private let busy: Int

    /// Reads the ticks since the machine started.
    init() {
        // cpu user nice system idle iowait irq softirq steal ...
        let line = ((try? Files.read("/proc/stat", bytesMax: 1 << 20)) ?? []).prefix { $0 != 0x0A }
        let ticks = line.split(separator: 0x20).dropFirst().map { ASCII.decimal($0) ?? 0 }
        stolen = ticks.count > 7 ? ticks[7] : 0
        busy = ticks.count > 7 ? ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6] : 0
    }

    /// The share of the requested CPU time that was withheld since then, percent.
    func percent(since before: StolenTime) -> Double {
        let taken = Double(stolen - before.stolen)
        let asked = taken + Double(busy - before.busy)
        return asked > 0 ? taken / asked * 100 : 0
    }
}
