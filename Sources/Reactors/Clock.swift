internal import Glibc

/// The clocks: monotonic for every deadline, wall time for tokens and timestamps only.
public enum Clock {
    /// Milliseconds of CLOCK_MONOTONIC; never goes backwards, not comparable between machines.
    public static func monotonicMs() -> Int { monotonicUs() / 1_000 }

    /// Microseconds of CLOCK_MONOTONIC.
    public static func monotonicUs() -> Int {
        let time = read(CLOCK_MONOTONIC)
        return time.tv_sec * 1_000_000 + time.tv_nsec / 1_000
    }

    /// Milliseconds since 1970 (CLOCK_REALTIME); may jump.
    public static func wallMs() -> Int {
        let time = read(CLOCK_REALTIME)
        return time.tv_sec * 1_000 + time.tv_nsec / 1_000_000
    }

    private static func read(_ clock: clockid_t) -> timespec {
        var time = timespec()
        _ = unsafe clock_gettime(clock, &time)
        return time
    }
}
