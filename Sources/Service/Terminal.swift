import Glibc

/// Standard output and standard error, without buffering between them.
public enum Terminal {
    /// Prints a line.
    public static func print(_ text: String) { write(text + "\n", to: STDOUT_FILENO) }

    /// Prints a line about an error.
    public static func error(_ text: String) { write("switchboard: " + text + "\n", to: STDERR_FILENO) }

    private static func write(_ text: String, to descriptor: Int32) {
        // Once the reader has gone, the error cannot be reported anywhere.
        try? Files.write(Array(text.utf8), to: descriptor)
    }
}
