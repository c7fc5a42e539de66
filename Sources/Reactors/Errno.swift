internal import CLinux
internal import Glibc

/// A failed system call: the kernel's `errno`, as a value.
public struct Errno: Error, Equatable, Sendable, CustomStringConvertible {
    /// The number (errno(3)).
    public let code: Int32

    /// Wraps a number.
    public init(code: Int32) {
        self.code = code
    }

    /// The calling thread's current `errno`; read it right after the failed call.
    public static var current: Errno { Errno(code: swb_errno()) }

    /// The call would block; it may be repeated when the descriptor is ready.
    public static let wouldBlock = Errno(code: EAGAIN)
    /// A non-blocking connect is in progress.
    public static let inProgress = Errno(code: EINPROGRESS)
    /// The process has no descriptor left.
    public static let tooManyFiles = Errno(code: EMFILE)
    /// The system has no descriptor left.
    public static let tooManyFilesInSystem = Errno(code: ENFILE)
    /// There is no memory for the socket.
    public static let noBuffers = Errno(code: ENOBUFS)
    /// There is no memory.
    public static let noMemory = Errno(code: ENOMEM)
    /// The peer aborted a connection before it was accepted.
    public static let connectionAborted = Errno(code: ECONNABORTED)
    /// Another socket has the address.
    public static let addressInUse = Errno(code: EADDRINUSE)
    /// No socket listens at the address.
    public static let connectionRefused = Errno(code: ECONNREFUSED)

    /// The system's sentence for the number.
    public var description: String {
        guard let text = unsafe strerror(code) else { return "errno \(code)" }
        return unsafe String(cString: text)
    }
}

/// Repeats a system call while signals interrupt it; turns -1 into a thrown ``Errno``.
public func retrying<Result: FixedWidthInteger & SignedInteger>(_ call: () -> Result) throws(Errno) -> Result {
    while true {
        let result = call()
        if result != -1 { return result }
        let failure = Errno.current
        if failure.code != EINTR { throw failure }
    }
}
