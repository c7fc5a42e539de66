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

    /// The descriptor's number, to register for reading.
    public var raw: Int32 { descriptor.raw }

    /// Ends the present wait, or else the next one.
    public func signal() {
        var one: UInt64 = 1
        // EAGAIN means that the counter is saturated, so the reader is woken in any case.
        _ = unsafe write(descriptor.raw, &one, 8)
    }

    /// Resets the counter; called before the announced work is taken.
    public func acknowledge() {
        var count: UInt64 = 0
        _ = unsafe read(descriptor.raw, &count, 8)
    }

    /// Blocks until a signal and resets the counter; for threads without a reactor.
    public func wait() {
        _ = wait(timeoutMs: -1)
    }

    /// Blocks until a signal, at most `timeoutMs` unless that is negative; returns whether a signal arrived.
    public func wait(timeoutMs: Int32) -> Bool {
        var watched = pollfd(fd: descriptor.raw, events: Int16(POLLIN), revents: 0)
        // An interrupted poll(2) looks like a spurious wake, which every caller must tolerate.
        let count = unsafe poll(&watched, 1, timeoutMs)
        acknowledge()
        return count > 0
    }
}
