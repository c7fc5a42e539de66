import Glibc

/// Standard output and standard error, without buffering between them.
enum Terminal {
    /// Prints a line.
    static func print(_ text: String) { write(text + "\n", to: STDOUT_FILENO) }

    /// Prints a line about what went wrong.
    static func error(_ text: String) { write("switchboard: " + text + "\n", to: STDERR_FILENO) }

    private static func write(_ text: String, to descriptor: Int32) {
        let bytes = Array(text.utf8)
        var offset = 0
        while offset < bytes.count {
            let start = offset
            let count = unsafe bytes.withUnsafeBytes { all in
                unsafe Glibc.write(descriptor, all.baseAddress?.advanced(by: start), all.count - start)
            }
            // Nobody reads any more; there is nobody to tell.
            guard count > 0 || errno == EINTR else { return }
            offset += max(count, 0)
        }
    }
}

/// The environment as a dictionary.
enum ProcessEnvironment {
    /// Every variable.
    static var all: [String: String] {
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
}
