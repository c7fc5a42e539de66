import FoundationEssentials

/// The files of the project, wherever a test lies in it.
public enum ProjectFiles {
    /// The folder of `Package.swift`, as an absolute path.
    public static let folder = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

    /// The text of a file; its path is relative to the folder.
    public static func text(_ path: String) throws -> String {
        try String(contentsOfFile: folder + "/" + path, encoding: .utf8)
    }
}
