/// The version of this source.
public enum ProductVersion {
    /// Semantic version.
    public static let text = "0.1.0"
}
