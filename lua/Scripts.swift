/// The embedded Lua scripts, by pack.
///
/// A pack is a folder beside this file, and may have folders for its scripts. The build embeds the files, so none is
/// listed here; `docs/scripts` describes how a script is written and which texts surround it when it is loaded.
public enum Scripts {
    /// A Lua file.
    public struct File: Sendable {
        /// The pack's folder.
        public let pack: String
        /// The file's path, which messages name: `barbershop/dj/vote.lua`.
        public let path: String
        /// The file's name without `.lua`; in its pack no other file has it.
        public let name: String
        /// Its bytes.
        public let source: [UInt8]
    }

    /// The pack that is always present: the preludes of scripts, and the scripts that the gateway calls by itself.
    public static let core = "core"

    /// The text put in front of every script.
    public static let prelude: File = shared("prelude")

    /// The texts put after ``prelude`` in front of every command and refresh script, in their order.
    public static let commandPreludes: [File] = ["writes", "checks", "values", "command", "run"].map { shared($0) }

    /// The text put after ``commandPreludes`` in front of commands that call services outside.
    public static let outsidePrelude: File = shared("outside")

    /// The text put after ``commandPreludes`` in front of `@readonly` commands for a cluster.
    public static let elsewherePrelude: File = shared("elsewhere")

    /// The text put after ``elsewherePrelude`` in front of scripts that read keys of another id on a cluster.
    public static let lookedPrelude: File = shared("looked")

    /// The text put after ``commandPreludes`` by tests of packs, whose time is not that of Redis.
    public static let movedPrelude: File = shared("moved")

    /// The text put before ``prelude`` in front of `publish`: its common case, which needs nothing of the prelude.
    public static let quickPublish: File = shared("quick")

    /// The texts put behind the state of a namespace: a join, and a look at a topic's position.
    ///
    /// They are scripts, too.
    public static let (subscribe, position): (File, File) = (shared("subscribe"), shared("position"))

    /// Every script but the preludes, in the order of their paths.
    public static let files: [File] = all.filter {
        $0.name != constantsName && ($0.pack != core || !(preludes + [templatesName]).contains($0.name))
    }

    /// The packs' files of shared numbers, which are not scripts.
    public static let constants: [File] = all.filter { $0.name == constantsName }

    /// The expressions that core's scripts share, which are no script either.
    public static let templates: File = shared(templatesName)

    /// Each pack's own description, the text of its `pack.json`, by the pack's name.
    public static let packs: [String: [UInt8]] = {
        var packs: [String: [UInt8]] = [:]
        for (path, text) in EmbeddedFiles.all where path.hasSuffix("/pack.json") {
            packs[String(path.dropLast("/pack.json".count))] = Array(text.utf8)
        }
        return packs
    }()

    private static let constantsName = "constants"
    private static let templatesName = "format"

    private static let preludes = [
        "prelude", "writes", "checks", "values", "command", "run", "outside", "elsewhere", "looked", "quick", "moved",
    ]

    private static let all: [File] = EmbeddedFiles.all.compactMap { path, text in
        let parts = path.split(separator: "/")
        guard (2...3).contains(parts.count), path.hasSuffix(".lua") else { return nil }
        let name = parts[parts.count - 1].dropLast(4)
        return File(pack: String(parts[0]), path: path, name: String(name), source: Array(text.utf8))
    }

    private static func shared(_ name: String) -> File {
        guard let file = all.first(where: { $0.pack == core && $0.name == name }) else {
            preconditionFailure("\(core)/\(name).lua is not embedded")
        }
        return file
    }
}
