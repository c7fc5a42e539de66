/// Where a client's tokens come from.
public struct TokenSource: Sendable {
    /// What the machine has to know of it.
    let credentials: Credentials
    /// Gets a token; asked for `refreshing` only.
    let fetch: @Sendable (TokenReason) async throws -> String

    /// No token: what the gateway lets anyone do.
    public static let none = TokenSource(credentials: .none) { _ in "" }

    /// One token, until it ends.
    public static func fixed(_ token: String) -> TokenSource { TokenSource(credentials: .fixed(token)) { _ in token } }

    /// The app's own source: asked once at a time, for a connection, before the token ends, and after it was refused.
    ///
    /// One that throws is asked again after a pause; it is no logout.
    public static func refreshing(_ fetch: @escaping @Sendable (TokenReason) async throws -> String) -> TokenSource {
        TokenSource(credentials: .refreshing, fetch: fetch)
    }
}
