/// One argument of a script.
public struct ArgumentDeclaration: Equatable, Sendable {
    /// Whether a call must give the argument.
    public enum Presence: Equatable, Sendable {
        /// The call must give it.
        case required
        /// The body reads `nil` when the argument is absent or null.
        case optional
        /// The body reads this text, as it stands in `ARGV`, when the argument is absent or null.
        case byDefault([UInt8])
    }

    /// The argument's name in the body: `[a-z][A-Za-z0-9]{0,63}`.
    public let name: String
    /// The argument's name for callers of every protocol: ``name``, or the name behind `as`, `[a-z][A-Za-z0-9_]{0,63}`.
    public let wire: String
    /// The type and range of the value.
    public let type: ArgumentType
    /// Whether a call must give it.
    public let presence: Presence
    /// The change of a given value before it is checked; `nil`: none.
    public let fold: ArgumentFold?
    /// The description for the documentation; may be empty.
    public let text: String

    /// Whether a call without the argument fails.
    public var isRequired: Bool { presence == .required }
}
