/// The embedded Lua scripts, by name.
///
/// A script is loaded as ``prelude``, a newline, and its source; ``text(of:)`` does the joining. `lua/README.md` tells
/// how a script is written, and `Tests/LuaTests` checks that every `.lua` file of the folder is listed here.
public enum Scripts {
    /// The text put in front of every script.
    public static let prelude: [UInt8] = PackageResources.prelude_lua

    /// The text put after ``prelude`` in front of every command and refresh script.
    public static let commandPrelude: [UInt8] = PackageResources.command_lua

    /// Every script but the preludes: the file's name without `.lua`, and its bytes.
    public static let files: [(name: String, source: [UInt8])] = [
        ("history", PackageResources.history_lua),
        ("lease", PackageResources.lease_lua),
        ("position", PackageResources.position_lua),
        ("publish", PackageResources.publish_lua),
        ("state_shop", PackageResources.state_shop_lua),
        ("subscribe", PackageResources.subscribe_lua),
    ]

    /// The whole text to load for one script, or for a script with parts before it: `["state_shop", "subscribe"]` is
    /// the subscribe script of a namespace with state; `nil` when a name is unknown.
    public static func text(of names: [String]) -> [UInt8]? {
        var text = prelude
        for name in names {
            guard let file = files.first(where: { $0.name == name }) else { return nil }
            text.append(UInt8(ascii: "\n"))
            text.append(contentsOf: file.source)
        }
        return text
    }
}
