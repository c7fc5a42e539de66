import Glibc

/// How many file descriptors the process has open, and may have.
public enum Descriptors {
    /// How many a serving process may have: it raises its limit as far as allowed; `nil` where that cannot be read.
    public static func allowed() -> Int? {
        var files = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files) == 0 else { return nil }
        return Int(clamping: files.rlim_max)
    }

    /// Both numbers; `nil` where there is no /proc.
    ///
    /// Linux tells the number since 6.2 (stat(2) of /proc/self/fd); before, they are counted one by one.
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
        // Three entries are not descriptors of others: itself, `.` and `..`.
        var open = -3
        while unsafe readdir(directory) != nil { open += 1 }
        return (open, limit)
    }
}
