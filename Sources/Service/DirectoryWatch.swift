/// Notices which files of a directory of scripts are others than before.
///
/// It looks at the `.lua` files and `pack.json` of the directory, and at the `.lua` files of the folders in it. Thread:
/// that of its owner.
public struct DirectoryWatch {
    /// The paths that are different, in their order.
    public struct Changes: Equatable, Sendable {
        /// Files that were written anew.
        public var changed: [String] = []
        /// Files that were not there.
        public var added: [String] = []
        /// Files that are gone.
        public var removed: [String] = []

        /// No changes.
        public init() {}

        /// Whether nothing is different.
        public var isEmpty: Bool { changed.isEmpty && added.isEmpty && removed.isEmpty }

        /// The changes as a line such as `changed a.lua, new b.lua`.
        public var text: String {
            [("changed ", changed), ("new ", added), ("gone ", removed)]
                .flatMap { word, paths in paths.map { word + $0 } }.joined(separator: ", ")
        }
    }

    private let directory: String
    private var marks: [String: Files.Mark]

    /// The most files that are looked at.
    private static let filesMax = 1_000

    /// Watches a directory from its present content on.
    public init(_ directory: String) {
        self.directory = directory
        marks = DirectoryWatch.marks(directory)
    }

    /// Returns what is different since the last call.
    ///
    /// A directory that cannot be read has no files.
    public mutating func look() -> Changes {
        let now = DirectoryWatch.marks(directory)
        guard now != marks else { return Changes() }
        var changes = Changes()
        changes.changed = now.filter { marks[$0.key].map { [new = $0.value] in $0 != new } ?? false }.keys.sorted()
        changes.added = now.keys.filter { marks[$0] == nil }.sorted()
        changes.removed = marks.keys.filter { now[$0] == nil }.sorted()
        marks = now
        return changes
    }

    private static func marks(_ directory: String) -> [String: Files.Mark] {
        var paths: [String] = []
        for name in (try? Files.names(in: directory, max: filesMax)) ?? [] {
            let path = directory + "/" + name
            if name.hasSuffix(".lua") || name == "pack.json" {
                paths.append(path)
            } else if !name.hasPrefix("."), Files.exists(path + "/") {
                let inner = (try? Files.names(in: path, max: filesMax)) ?? []
                paths += inner.filter { $0.hasSuffix(".lua") }.map { path + "/" + $0 }
            }
        }
        var marks: [String: Files.Mark] = [:]
        for path in paths.prefix(filesMax) { marks[path] = Files.mark(path) }
        return marks
    }
}
