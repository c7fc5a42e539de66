import Glibc

/// Standard output and standard error, without buffering between them.
public enum Terminal {
    /// Prints a line.
    public static func print(_ text: String) { write(text + "\n", to: STDOUT_FILENO) }

    /// Prints a line about an error.
    public static func error(_ text: String) { write("switchboard: " + text + "\n", to: STDERR_FILENO) }

    private static func write(_ text: String, to descriptor: Int32) {
        let bytes = Array(text.utf8)
        var offset = 0
        while offset < bytes.count {
            let start = offset
            let count = unsafe bytes.withUnsafeBytes { all in
                unsafe Glibc.write(descriptor, all.baseAddress?.advanced(by: start), all.count - start)
            }
            // The reader has gone, so the error cannot be reported anywhere.
            guard count > 0 || errno == EINTR else { return }
            offset += max(count, 0)
        }
    }
}
