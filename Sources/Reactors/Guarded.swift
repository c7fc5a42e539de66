internal import Glibc

/// A value that threads share behind a lock.
///
/// It is like `Mutex`, but uses pthread_mutex_lock(3), whose order ThreadSanitizer sees. With the futex of `Mutex`,
/// ThreadSanitizer reports each hand-over between two threads as a race. Hold the lock only briefly. The type may cross
/// threads, unchecked by the compiler, because its value is used only under the lock. Thread: any.
@safe public final class Guarded<Value: Sendable>: @unchecked Sendable {
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    /// Makes a lock around a first value.
    public init(_ value: Value) {
        unsafe lock = .allocate(capacity: 1)
        unsafe lock.initialize(to: pthread_mutex_t())
        self.value = value
        // It fails only without memory, which a default mutex does not need.
        _ = unsafe pthread_mutex_init(lock, nil)
    }

    deinit {
        _ = unsafe pthread_mutex_destroy(lock)
        unsafe lock.deallocate()
    }

    /// Runs the body with exclusive access to the value; the body must not lock this value again.
    public func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        _ = unsafe pthread_mutex_lock(lock)
        defer { _ = unsafe pthread_mutex_unlock(lock) }
        return try body(&value)
    }
}
