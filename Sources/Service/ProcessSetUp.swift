import Glibc

/// The settings that a serving process makes for itself before it starts threads.
public enum ProcessSetUp {
    /// Blocks signals, raises the descriptor limit as far as allowed, and forbids core dumps, which would hold tokens
    /// and keys.
    public static func run() throws(StartProblem) {
        // Swift seeds its hash tables in each process unless this is set; then a client could choose colliding topics.
        guard Environment.value("SWIFT_DETERMINISTIC_HASHING") == nil else {
            throw StartProblem(
                "SWIFT_DETERMINISTIC_HASHING is set: unset it, it lets clients slow the gateway")
        }
        Signals.block()
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        var files = rlimit()
        if unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files) == 0 {
            files.rlim_cur = files.rlim_max
            _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
        }
    }
}
