/// The source of a client's tokens.
public struct TokenSource: Sendable {
    /// The kind of source, for the machine.
    let credentials: Credentials
    /// Gets a token; called for `refreshing` only.
    let fetch: @Sendable (TokenReason) async throws -> String

    /// No token: the rights of the anonymous user.
    public static let none = TokenSource(credentials: .none) { _ in "" }

    /// One token, until its end.
    public static func fixed(_ token: String) -> TokenSource { TokenSource(credentials: .fixed(token)) { _ in token } }

    /// The app's own source: one request at a time, for a connection, before the token ends, and after a refusal.
    ///
    /// A source that throws is asked again after a pause; this is no logout.
    public static func refreshing(_ fetch: @escaping @Sendable (TokenReason) async throws -> String) -> TokenSource {
        TokenSource(credentials: .refreshing, fetch: fetch)
    }
}
