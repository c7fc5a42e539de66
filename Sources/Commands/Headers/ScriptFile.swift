/// A Lua file that may hold a command, a refresh or a state provider.
public struct ScriptFile: Equatable, Sendable {
    /// The file's name without `.lua`.
    public let name: String
    /// The built-in pack that the file belongs to; empty for the operator's own files.
    public let pack: String
    /// The name of the pack's folder: ``pack``, or the last part of the operator's directory; empty when it is unknown.
    public let folder: String
    /// The file's name in messages: its own name, or the path that the operator gave.
    public let path: String
    /// The whole text.
    public let bytes: [UInt8]

    /// The pack of the scripts that the gateway calls itself, and of the parts that all packs share.
    static let corePack = "core"

    /// The most bytes a file may have.
    public static let bytesMax = 262_144

    /// Takes the bytes of a file; nothing is checked yet.
    ///
    /// `directory` is the operator's, in which the file lies or a folder with it; unless given, the file lies there.
    public init(name: String, path: String, bytes: [UInt8], pack: String = "", directory: String? = nil) {
        self.name = name
        self.pack = pack
        self.path = path
        self.bytes = bytes
        let parts = (directory ?? String(path.dropLast(name.count + 4))).split(separator: "/")
        folder = pack.isEmpty ? parts.last.map { String($0) } ?? "" : pack
    }
}
