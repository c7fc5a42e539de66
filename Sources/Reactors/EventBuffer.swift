internal import CLinux

/// The memory that epoll_wait(2) fills; indices are checked, so that only this file uses it unsafely.
@safe final class EventBuffer {
    private let storage: UnsafeMutableBufferPointer<epoll_event>
    private var count = 0

    /// Allocates room for `capacity` events in each wait.
    init(capacity: Int) {
        unsafe storage = .allocate(capacity: capacity)
        unsafe storage.initialize(repeating: epoll_event())
    }

    deinit {
        unsafe storage.deallocate()
    }

    /// Waits, and returns the number of events; 0 after a signal or the timeout.
    ///
    /// `timeoutMs` -1 waits without a limit.
    func wait(epoll: Int32, timeoutMs: Int32) -> Int {
        let result = unsafe epoll_wait(epoll, storage.baseAddress, Int32(truncatingIfNeeded: storage.count), timeoutMs)
        count = max(Int(result), 0)
        return count
    }

    /// The token of an event's source.
    func token(at index: Int) -> UInt64 {
        precondition(index >= 0 && index < count)
        return unsafe swb_event_token(storage.baseAddress.unsafelyUnwrapped + index)
    }

    /// The readiness that an event reports.
    func readiness(at index: Int) -> Readiness {
        precondition(index >= 0 && index < count)
        let mask = unsafe swb_event_mask(storage.baseAddress.unsafelyUnwrapped + index)
        var readiness: Readiness = []
        if mask & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue) != 0 { readiness.insert(.read) }
        if mask & EPOLLOUT.rawValue != 0 { readiness.insert(.write) }
        if mask & (EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 { readiness.insert(.failed) }
        return readiness
    }
}
