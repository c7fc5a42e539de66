internal import Glibc

/// Descriptors below the limit of the process (RLIMIT_NOFILE) that some of its users leave to others.
///
/// A new descriptor has the lowest free number, so a user compares its number with ``ceiling(reserve:)``, and closes it
/// when it is not below. A low limit reserves a quarter at most.
public enum DescriptorReserve {
    /// Left by connections of clients: for links to Redis, threads, files and operators.
    public static let clients = 32
    /// Left by links and threads: for questions of operators, and for files.
    public static let links = 8
    /// Left by connections of operators: for files.
    public static let operators = 4

    /// Returns the descriptor of a link or a thread; closes a reserved one and throws, as if the process had none.
    public static func unreserved(_ descriptor: consuming FileDescriptor) throws(Errno) -> FileDescriptor {
        guard descriptor.raw < ceiling(reserve: links) else { throw .tooManyFiles }
        return descriptor
    }

    /// The first reserved number of this process.
    public static func ceiling(reserve: Int) -> Int32 {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return Int32.max }
        return Int32(clamping: ceiling(of: Int(clamping: limit.rlim_cur), reserve: reserve))
    }

    /// The first reserved number for a soft limit that is known.
    public static func ceiling(of limit: Int, reserve: Int) -> Int { limit - min(reserve, limit / 4) }
}
