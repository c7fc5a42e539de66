internal import Foundation

/// A value behind a lock.
///
/// `Mutex` of the standard library needs iOS 18.
///
/// `@unchecked`: every access to the value goes through `with`, which holds the lock.
final class Locked<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    /// A value that nobody holds yet.
    init(_ value: Value) { self.value = value }

    /// Runs the body alone.
    ///
    /// It must not call out: what it wants done it returns.
    func with<Result>(_ body: (inout Value) -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body(&value)
    }
}
