/// The embedded Lua scripts, by name.
///
/// `lua/README.md` tells how a script is written and what is put around it when it is loaded; `Tests/LuaTests` checks
/// that every `.lua` file of the folder is listed here.
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
}
