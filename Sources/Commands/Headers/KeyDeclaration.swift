/// A key a script touches.
public struct KeyDeclaration: Equatable, Sendable {
    /// What the body calls it: `key.NAME`.
    public let name: String
    /// How its name in Redis is made.
    public let template: Template
}
