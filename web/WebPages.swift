/// The embedded pages, by path.
public enum WebPages {
    /// The page at `/`.
    public static let index = PackageResources.index_html
}
