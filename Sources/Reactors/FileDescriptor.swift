internal import Glibc

/// The owner of an open file descriptor; closes it when it goes out of scope.
public struct FileDescriptor: ~Copyable, Sendable {
    /// The number, for system calls while this value lives.
    public let raw: Int32

    /// Takes ownership of an open descriptor.
    public init(owning raw: Int32) {
        self.raw = raw
    }

    /// Gives up ownership; the caller closes the number.
    public consuming func release() -> Int32 {
        let number = raw
        discard self
        return number
    }

    deinit {
        // EINTR from close(2) leaves the descriptor closed on Linux, so there is nothing to repeat or to report.
        _ = close(raw)
    }
}
