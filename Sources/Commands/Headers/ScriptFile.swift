/// A Lua file that may hold a command, a refresh or a state provider.
public struct ScriptFile: Equatable, Sendable {
    /// The file's name without `.lua`.
    public let name: String
    /// The pack it belongs to: the name of its folder; empty for the operator's own.
    public let pack: String
    /// How the file is called in messages: its name, or the path the operator gave.
    public let path: String
    /// The whole text.
    public let bytes: [UInt8]

    /// The pack of what the gateway calls itself and of what all packs share.
    static let corePack = "core"

    /// The most bytes a file may have.
    public static let bytesMax = 262_144

    /// Takes a file as it was read; nothing is checked yet.
    public init(name: String, path: String, bytes: [UInt8], pack: String = "") {
        self.name = name
        self.pack = pack
        self.path = path
        self.bytes = bytes
    }
}
