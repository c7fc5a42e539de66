import Glibc

/// The number of file descriptors that the process has open, and the number that it may have.
public enum Descriptors {
    /// The most descriptors of a serving process, which raises its limit as far as allowed; `nil` when it cannot be
    /// read.
    public static func allowed() -> Int? {
        var files = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files) == 0 else { return nil }
        return Int(clamping: files.rlim_max)
    }

    /// Both numbers; `nil` without /proc.
    ///
    /// Linux reports the number since 6.2 (stat(2) of /proc/self/fd); before that, they are counted one by one.
    public static func count() -> (open: Int, limit: Int)? {
        var files = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files) == 0 else { return nil }
        let limit = Int(clamping: files.rlim_cur)
        var about = stat()
        if unsafe stat("/proc/self/fd", &about) == 0, about.st_size > 0 { return (Int(about.st_size), limit) }
        guard let directory = unsafe opendir("/proc/self/fd") else {
            return errno == EMFILE ? (limit, limit) : nil
        }
        defer { _ = unsafe closedir(directory) }
        // Three entries are not other descriptors: this directory itself, `.` and `..`.
        var open = -3
        while unsafe readdir(directory) != nil { open += 1 }
        return (open, limit)
    }
}
