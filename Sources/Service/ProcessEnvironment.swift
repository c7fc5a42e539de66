import Glibc

/// The environment and arguments with which the process was started.
public enum ProcessEnvironment {
    /// All environment variables.
    public static var all: [String: String] {
        var result: [String: String] = [:]
        var entry = unsafe environ
        while let text = unsafe entry.pointee {
            let line = unsafe String(cString: text)
            if let equals = line.utf8.firstIndex(of: UInt8(ascii: "=")) {
                result[String(line[..<equals])] = String(line[line.utf8.index(after: equals)...])
            }
            unsafe entry += 1
        }
        return result
    }

    /// The process's arguments, its name first.
    ///
    /// Swift looks for them beside the environment, and finds none when a preloaded library has moved that (setenv(3)
    /// in a constructor). The kernel always has them.
    public static var arguments: [String] {
        guard let text = try? Files.read("/proc/self/cmdline", bytesMax: 4 << 20), text.last == 0 else {
            return Swift.CommandLine.arguments
        }
        return text.dropLast().split(separator: 0, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
    }
}
