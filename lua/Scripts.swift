/// The embedded Lua scripts, by file name.
public enum Scripts {
    /// The text put in front of every script.
    public static let prelude = PackageResources.prelude_lua
}
