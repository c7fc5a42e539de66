/// The version of this source.
public enum ProductVersion {
    /// The semantic version, defined only here; docs/versions.md has what it promises.
    public static let text = "1.0.0"
    /// The format of the data that processes keep in Redis.
    ///
    /// It grows by one with a change that a process of the version before would misread. Processes of two formats do
    /// not work on the same keys.
    public static let format = 1
}
