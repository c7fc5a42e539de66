internal import Glibc

/// A value that threads share behind a lock.
///
/// Like `Mutex`, but made of pthread_mutex_lock(3), whose order ThreadSanitizer sees: under the futex of `Mutex` it
/// takes every hand-over between two threads for a race. Held for moments only. It may cross threads, unchecked by the
/// compiler, because its value is touched nowhere but under the lock. Thread: any.
@safe public final class Guarded<Value: Sendable>: @unchecked Sendable {
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    /// Takes the first value.
    public init(_ value: Value) {
        unsafe lock = .allocate(capacity: 1)
        unsafe lock.initialize(to: pthread_mutex_t())
        self.value = value
        // Fails only for want of memory, which a default mutex does not need.
        _ = unsafe pthread_mutex_init(lock, nil)
    }

    deinit {
        _ = unsafe pthread_mutex_destroy(lock)
        unsafe lock.deallocate()
    }

    /// Runs the body alone with the value; it must not lock this value again.
    public func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        _ = unsafe pthread_mutex_lock(lock)
        defer { _ = unsafe pthread_mutex_unlock(lock) }
        return try body(&value)
    }
}
