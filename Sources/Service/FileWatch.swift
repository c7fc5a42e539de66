/// Notices that a file was replaced or written anew.
///
/// Thread: that of its owner.
public struct FileWatch {
    private let path: String
    private var mark: Files.Mark?

    /// Watches a file from its present content on.
    public init(_ path: String) {
        self.path = path
        mark = Files.mark(path)
    }

    /// Whether the file is another than at the last call; a file that cannot be read counts as unchanged.
    public mutating func hasChanged() -> Bool {
        guard let now = Files.mark(path), now != mark else { return false }
        mark = now
        return true
    }
}
