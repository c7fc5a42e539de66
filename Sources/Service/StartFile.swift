/// Files that a command needs to start: a failure ends the start, and its problem names the file.
public enum StartFile {
    /// A whole file; a longer one is refused.
    public static func read(_ path: String, bytesMax: Int) throws(StartProblem) -> [UInt8] {
        do {
            return try Files.read(path, bytesMax: bytesMax)
        } catch {
            throw StartProblem.file(path, error)
        }
    }

    /// Replaces a file; a secret one is readable by its owner alone.
    public static func write(_ bytes: [UInt8], to path: String, isSecret: Bool) throws(StartProblem) {
        do {
            try Files.write(bytes, to: path, isSecret: isSecret)
        } catch {
            throw StartProblem.file(path, error)
        }
    }
}
