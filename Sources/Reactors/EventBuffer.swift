internal import CLinux

/// The memory epoll_wait(2) fills; indices are checked, so that only this file touches it unsafely.
@safe final class EventBuffer {
    private let storage: UnsafeMutableBufferPointer<epoll_event>
    private var count = 0

    /// Room for `capacity` events a wait.
    init(capacity: Int) {
        unsafe storage = .allocate(capacity: capacity)
        unsafe storage.initialize(repeating: epoll_event())
    }

    deinit {
        unsafe storage.deallocate()
    }

    /// Waits; returns how many events there are, 0 on a signal or time-out.
    ///
    /// `timeoutMs` -1 waits for ever.
    func wait(epoll: Int32, timeoutMs: Int32) -> Int {
        let result = unsafe epoll_wait(epoll, storage.baseAddress, Int32(truncatingIfNeeded: storage.count), timeoutMs)
        count = max(Int(result), 0)
        return count
    }

    /// What an event carries.
    func token(at index: Int) -> UInt64 {
        precondition(index >= 0 && index < count)
        return unsafe swb_event_token(storage.baseAddress.unsafelyUnwrapped + index)
    }

    /// What an event says.
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
