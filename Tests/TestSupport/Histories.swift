/// How many histories a simulation lives through.
public enum Histories {
    /// The usual count, or a fiftieth of it under ThreadSanitizer.
    ///
    /// A simulation has one thread, in which that sanitizer finds nothing, and takes twenty times as long there. `make tsan`
    /// says so by the compilation condition `THREAD_SANITIZER`. A test that must see something rare among its histories
    /// says how many it needs at least.
    public static func count(_ usual: Int, atLeast fewest: Int = 1) -> Int {
        #if THREAD_SANITIZER
            max(fewest, usual / 50)
        #else
            usual
        #endif
    }
}
