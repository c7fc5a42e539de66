import Glibc
public import Reactors

/// Reads and writes small files as a whole.
public enum Files {
    /// Reads a file; fails with EFBIG beyond `bytesMax`.
    public static func read(_ path: String, bytesMax: Int) throws(Errno) -> [UInt8] {
        let raw = try retrying { unsafe open(path, O_RDONLY | O_CLOEXEC) }
        let descriptor = FileDescriptor(owning: raw)
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = try retrying { unsafe Glibc.read(descriptor.raw, &chunk, chunk.count) }
            guard count > 0 else { return bytes }
            bytes.append(contentsOf: chunk[..<count])
            guard bytes.count <= bytesMax else { throw Errno(code: EFBIG) }
        }
    }

    /// Writes a file through a temporary one, so that readers see the old or the new content, never a part.
    ///
    /// With `isSecret` only the owner may read it.
    public static func write(_ bytes: [UInt8], to path: String, isSecret: Bool) throws(Errno) {
        let temporary = path + ".new"
        let mode: mode_t = isSecret ? 0o600 : 0o644
        _ = unsafe unlink(temporary)
        let raw = try retrying { unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode) }
        let descriptor = FileDescriptor(owning: raw)
        try write(bytes, to: descriptor.raw)
        _ = try retrying { fsync(descriptor.raw) }
        _ = try retrying { unsafe rename(temporary, path) }
    }

    /// Writes all bytes to a descriptor, in as many calls as it needs.
    static func write(_ bytes: [UInt8], to descriptor: Int32) throws(Errno) {
        var offset = 0
        while offset < bytes.count {
            let start = offset
            let count = try retrying {
                unsafe bytes.withUnsafeBytes { all in
                    unsafe Glibc.write(descriptor, all.baseAddress?.advanced(by: start), all.count - start)
                }
            }
            guard count > 0 else { throw Errno(code: EIO) }
            offset += count
        }
    }

    /// Opens a file to append to it, and creates it when it does not exist; the caller owns the descriptor.
    ///
    /// Only the owner and its group may read it.
    static func openToAppend(_ path: String) throws(Errno) -> Int32 {
        try retrying { unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o640) }
    }

    /// The names in a directory, sorted by bytes, without `.` and `..`; fails with E2BIG beyond `max`.
    public static func names(in directory: String, max: Int) throws(Errno) -> [String] {
        guard let stream = unsafe opendir(directory) else { throw Errno.current }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            guard name != ".", name != ".." else { continue }
            guard names.count < max else { throw Errno(code: E2BIG) }
            names.append(name)
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Whether something exists at the path.
    public static func exists(_ path: String) -> Bool {
        unsafe access(path, F_OK) == 0
    }

    /// The absolute path with links resolved (realpath(3)); `nil` when nothing exists there.
    public static func absolute(_ path: String) -> String? {
        guard let found = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(found) }
        return unsafe String(cString: found)
    }

    /// Whether every user of this machine can read the file: its mode and all directories above allow it.
    ///
    /// A file that is a mount of its own is a container's secret, and counts as not readable. Its mode belongs to the
    /// host, and no other user is in the container.
    public static func isReadableByEverybody(_ path: String) -> Bool {
        guard let full = absolute(path), let file = status(full), file.st_mode & S_IROTH != 0 else { return false }
        var isParent = true
        var rest = full[...]
        while let slash = rest.lastIndex(of: "/") {
            rest = rest[..<slash]
            guard let directory = status(rest.isEmpty ? "/" : String(rest)), directory.st_mode & S_IXOTH != 0,
                !isParent || directory.st_dev == file.st_dev
            else { return false }
            isParent = false
        }
        return true
    }

    /// The parts of a file's status that a write or a replacement changes.
    struct Mark: Equatable {
        let inode: UInt64
        let size: Int
        let seconds: Int
        let nanoseconds: Int
    }

    /// The mark of a file; `nil` when it cannot be read.
    static func mark(_ path: String) -> Mark? {
        status(path).map {
            Mark(
                inode: UInt64($0.st_ino), size: Int($0.st_size), seconds: $0.st_mtim.tv_sec,
                nanoseconds: $0.st_mtim.tv_nsec)
        }
    }

    private static func status(_ path: String) -> stat? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status : nil
    }

    /// Creates a directory with a new name for files of a moment, which only the owner may enter; returns its path.
    ///
    /// It lies where `TMPDIR` says.
    public static func makeTemporaryDirectory(_ name: String) throws(Errno) -> String {
        let parent = Environment.value("TMPDIR").flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        var template = Array((parent + "/" + name + "-XXXXXX").utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw Errno.current }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes a directory and the files in it; a directory that holds others stays, with these alone.
    public static func removeDirectory(_ path: String) {
        for name in (try? names(in: path, max: 1_000)) ?? [] { _ = unsafe unlink(path + "/" + name) }
        _ = unsafe rmdir(path)
    }

    /// Removes a directory with the files in it and in its folders.
    public static func removeTree(_ path: String) {
        for name in (try? names(in: path, max: 1_000)) ?? [] where exists(path + "/" + name + "/.") {
            removeDirectory(path + "/" + name)
        }
        removeDirectory(path)
    }

    /// Creates a directory that only the owner may enter; an existing one stays unchanged.
    public static func makeDirectory(_ path: String) throws(Errno) {
        do {
            _ = try retrying { unsafe mkdir(path, 0o700) }
        } catch {
            guard error.code == EEXIST else { throw error }
        }
    }
}
