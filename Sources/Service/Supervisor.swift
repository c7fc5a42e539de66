import Glibc

/// Tells systemd how the service is (sd_notify(3)); does nothing when systemd did not start it.
public enum Supervisor {
    /// The service takes clients.
    public static func ready() { notify("READY=1") }
    /// The service is ending.
    public static func stopping() { notify("STOPPING=1") }
    /// The loops of the service turn; what comes too late for `WatchdogSec=` has systemd end and start it anew.
    ///
    /// Dropped when systemd does not take it at once: nobody waits to say that they do not wait.
    public static func alive() { notify("WATCHDOG=1", flags: Int32(MSG_DONTWAIT)) }
    /// How often ``alive()`` must come at least, milliseconds (sd_watchdog_enabled(3)); `nil` when systemd does not wait for it.
    public static var watchdogMs: Int? {
        guard let text = Environment.value("WATCHDOG_USEC"), let us = Int(text), us > 0 else { return nil }
        return us / 1_000
    }
    /// One line for `systemctl status`.
    public static func status(_ text: String) { notify("STATUS=" + text) }

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
        // A supervisor that does not listen must not stop the service.
        _ = unsafe withUnsafePointer(to: &name) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe sendto(raw, message, message.count, Int32(MSG_NOSIGNAL) | flags, $0, length)
            }
        }
    }
}
