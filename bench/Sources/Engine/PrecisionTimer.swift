import CLinux
import Glibc
import Reactors

/// A deadline to the microsecond, unlike ``ReactorTimer``, which has milliseconds (timerfd_create(2)).
///
/// Thread: main.
final class PrecisionTimer: EventSource {
    private let action: () -> Void
    private let descriptor: FileDescriptor

    init(_ reactor: Reactor, action: @escaping () -> Void) throws(Errno) {
        self.action = action
        descriptor = FileDescriptor(
            owning: try retrying { timerfd_create(CLOCK_MONOTONIC, SWB_NONBLOCK | SWB_CLOEXEC) })
        _ = try reactor.add(self, descriptor: descriptor.raw, interest: .read)
    }

    /// Sets the only deadline, microseconds of CLOCK_MONOTONIC; a past one fires at once.
    func set(atUs deadlineUs: Int) {
        var time = itimerspec()
        // Zero would disarm.
        time.it_value.tv_nsec = max(deadlineUs % 1_000_000 * 1_000, 1)
        time.it_value.tv_sec = deadlineUs / 1_000_000
        // Fails only for values out of range.
        _ = unsafe timerfd_settime(descriptor.raw, 1, &time, nil)
    }

    func ready(_ readiness: Readiness) {
        var count: UInt64 = 0
        let raw = descriptor.raw
        guard (try? retrying { unsafe read(raw, &count, 8) }) != nil else { return }
        action()
    }

    func deadlineReached() {}
    func flush() {}
    func released() {}
}
