internal import Foundation

/// A value behind a lock.
///
/// The standard library's `Mutex` would need no `@unchecked`, but it needs iOS 18, and this library runs on iOS 16. The
/// servers' `Guarded` uses pthreads, in a target that an app must not build. So this library has its own lock, and
/// `scripts/lint.sh` allows it this one.
///
/// `@unchecked`: the compiler cannot see that a lock guards `value`. `value` is private, and `with` is the only code
/// that reads or writes it, while it holds the lock.
final class Locked<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    /// A value with an unlocked lock.
    init(_ value: Value) { self.value = value }

    /// Runs the body under the lock.
    ///
    /// The body must not call out: it returns the actions that are to follow.
    func with<Result>(_ body: (inout Value) -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body(&value)
    }
}
