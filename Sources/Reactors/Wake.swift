internal import CLinux
internal import Glibc

/// An eventfd that ends a reactor's wait from another thread.
///
/// Thread: `signal` from any; `acknowledge` from the reactor's.
public final class Wake: Sendable {
    private let descriptor: FileDescriptor

    /// Makes an eventfd(2).
    public init() throws(Errno) {
        let raw = try retrying { eventfd(0, SWB_CLOEXEC | SWB_NONBLOCK) }
        descriptor = FileDescriptor(owning: raw)
    }

    /// The number to register for reading.
    public var raw: Int32 { descriptor.raw }

    /// Ends the wait, now or the next one.
    public func signal() {
        var one: UInt64 = 1
        // EAGAIN means the counter is saturated, so the reader is woken in any case.
        _ = unsafe write(descriptor.raw, &one, 8)
    }

    /// Resets the counter, before the work it announced is taken.
    public func acknowledge() {
        var count: UInt64 = 0
        _ = unsafe read(descriptor.raw, &count, 8)
    }

    /// Blocks until a signal and resets the counter; for threads that have no reactor.
    public func wait() {
        _ = wait(timeoutMs: -1)
    }

    /// Blocks until a signal, `timeoutMs` at most when that is not negative; true when it came.
    public func wait(timeoutMs: Int32) -> Bool {
        var watched = pollfd(fd: descriptor.raw, events: Int16(POLLIN), revents: 0)
        // An interrupted poll(2) looks like a spurious wake, which every caller must stand.
        let count = unsafe poll(&watched, 1, timeoutMs)
        acknowledge()
        return count > 0
    }
}
