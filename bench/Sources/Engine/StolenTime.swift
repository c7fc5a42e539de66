import Core
import Service

/// What a hypervisor kept from this machine while it had work: `steal` of `/proc/stat` (proc(5)).
///
/// A virtual machine that gets less than it asks for shows latencies, and where the kernel counts stolen time as a
/// process's own also CPU, that are its host's and not the target's.
struct StolenTime {
    private let stolen: Int
    private let busy: Int

    /// Reads the ticks since the machine began.
    init() {
        // cpu user nice system idle iowait irq softirq steal ...
        let line = ((try? Files.read("/proc/stat", bytesMax: 1 << 20)) ?? []).prefix { $0 != 0x0A }
        let ticks = line.split(separator: 0x20).dropFirst().map { ASCII.decimal($0) ?? 0 }
        stolen = ticks.count > 7 ? ticks[7] : 0
        busy = ticks.count > 7 ? ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6] : 0
    }

    /// The share of the CPU time asked for since then that was not given, percent.
    func percent(since before: StolenTime) -> Double {
        let taken = Double(stolen - before.stolen)
        let asked = taken + Double(busy - before.busy)
        return asked > 0 ? taken / asked * 100 : 0
    }
}
