/// A key that a script uses.
public struct KeyDeclaration: Equatable, Sendable {
    /// The key's name in the body: `key.NAME`.
    public let name: String
    /// The template of the key's name in Redis.
    public let template: Template
}
