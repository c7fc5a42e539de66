import Configuration
import Core
import Glibc

extension Log {
    /// Writes the first line of a process: its role, its version, the format of its data in Redis, and its process id.
    public func started(_ role: MetricGroup.Process) {
        write(
            .info, "starting",
            [
                ("role", role.rawValue), ("version", ProductVersion.text), ("format", "\(ProductVersion.format)"),
                ("pid", "\(getpid())"),
            ])
    }
}
