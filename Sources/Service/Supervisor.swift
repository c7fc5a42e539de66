import Glibc
import Reactors

/// Reports the state of the service to systemd (sd_notify(3)); does nothing when systemd did not start it.
public enum Supervisor {
    /// Reports that the service accepts clients.
    public static func ready() { notify("READY=1") }
    /// Reports that the service reads its files again; ``ready()`` ends that.
    ///
    /// The time tells systemd which of several reloads it is (sd_notify(3)).
    public static func reloading() { notify("RELOADING=1\nMONOTONIC_USEC=\(Clock.monotonicMs() * 1_000)") }
    /// Reports that the service is ending.
    public static func stopping() { notify("STOPPING=1") }
    /// Reports that the loops of the service turn; without it within `WatchdogSec=`, systemd restarts the service.
    ///
    /// The report is dropped when systemd does not accept it at once, so that it never blocks.
    public static func alive() { notify("WATCHDOG=1", flags: Int32(MSG_DONTWAIT)) }
    /// The longest time between two calls of ``alive()``, milliseconds (sd_watchdog_enabled(3)); `nil` without a
    /// watchdog.
    public static var watchdogMs: Int? {
        guard let text = Environment.value("WATCHDOG_USEC"), let us = Int(text), us > 0 else { return nil }
        return us / 1_000
    }
    /// Sets the line for `systemctl status`; an empty one clears it.
    ///
    /// Only the first line of the text counts, since each line of a report is a field.
    public static func status(_ text: String) {
        notify("STATUS=" + String(text.prefix { !$0.isNewline }))
    }

    private static func notify(_ text: String, flags: Int32 = 0) {
        guard let path = Environment.value("NOTIFY_SOCKET"), path.utf8.count > 1, path.utf8.count < 108 else { return }
        let raw = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard raw >= 0 else { return }
        defer { close(raw) }
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(path.utf8)
        // A leading @ means the abstract namespace, whose names begin with NUL (unix(7)).
        if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
        unsafe withUnsafeMutableBytes(of: &name.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let message = Array(text.utf8)
        // A supervisor that does not read must not stop the service.
        _ = unsafe withUnsafePointer(to: &name) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe sendto(raw, message, message.count, Int32(MSG_NOSIGNAL) | flags, $0, length)
            }
        }
    }
}
