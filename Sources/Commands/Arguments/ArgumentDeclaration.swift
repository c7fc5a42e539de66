/// One argument of a script.
public struct ArgumentDeclaration: Equatable, Sendable {
    /// Whether it must be given.
    public enum Presence: Equatable, Sendable {
        /// It must.
        case required
        /// When it is absent or null, the body finds nil.
        case optional
        /// When it is absent or null it is this text, as it goes into `ARGV`.
        case byDefault([UInt8])
    }

    /// What the body calls it: `[a-z][A-Za-z0-9]{0,63}`.
    public let name: String
    /// What callers call it, by every door: the name, or what `as` says, `[a-z][A-Za-z0-9_]{0,63}`.
    public let wire: String
    /// What it may be.
    public let type: ArgumentType
    /// Whether it must be given.
    public let presence: Presence
    /// Whether A-Z of what is given become a-z before it is checked.
    public let folds: Bool
    /// What it means, for the documentation; may be empty.
    public let text: String

    /// Whether a call cannot do without it.
    public var isRequired: Bool { presence == .required }
}
