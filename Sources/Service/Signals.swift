import Glibc

/// Receives signals by waiting for them on the main thread, so that no handler ever interrupts other code.
public enum Signals {
    /// Blocks the signals; must be called before the first thread starts, since every thread inherits the mask.
    public static func block() {
        _ = signal(SIGPIPE, SIG_IGN)
        var set = waited
        _ = unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Waits for a signal; `nil` when none arrived in time.
    ///
    /// Without `timeoutMs` it waits without a limit.
    public static func wait(timeoutMs: Int?) -> Int32? {
        var set = waited
        guard let timeoutMs else {
            let number = unsafe sigwaitinfo(&set, nil)
            return number > 0 ? number : nil
        }
        var time = timespec(tv_sec: timeoutMs / 1_000, tv_nsec: timeoutMs % 1_000 * 1_000_000)
        let number = unsafe sigtimedwait(&set, nil, &time)
        return number > 0 ? number : nil
    }

    private static var waited: sigset_t {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for number in [SIGTERM, SIGINT, SIGHUP] { unsafe sigaddset(&set, number) }
        return set
    }
}
