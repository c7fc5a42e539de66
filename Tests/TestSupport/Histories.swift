import FoundationEssentials

/// How many histories a simulation lives through.
public enum Histories {
    /// `SWITCHBOARD_HISTORIES=N` (1 to 1,000) makes every simulation N times as long: `make unit HISTORIES=10`.
    private static let factor =
        ProcessInfo.processInfo.environment["SWITCHBOARD_HISTORIES"].flatMap { Int($0) }.map { min(max($0, 1), 1_000) }
        ?? 1

    /// The usual count, or a fiftieth of it under ThreadSanitizer.
    ///
    /// A simulation has one thread, in which that sanitizer finds nothing, and takes twenty times as long there. `make tsan`
    /// says so by the compilation condition `THREAD_SANITIZER`. A test that must see something rare among its histories
    /// says how many it needs at least.
    public static func count(_ usual: Int, atLeast fewest: Int = 1) -> Int {
        #if THREAD_SANITIZER
            max(fewest, usual / 50)
        #else
            usual * factor
        #endif
    }
}
