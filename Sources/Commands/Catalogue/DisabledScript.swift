/// An embedded script that is left out because of the configuration.
public struct DisabledScript: Equatable, Sendable {
    /// The name of the command, refresh or file.
    public let name: String
    /// Why, such as `namespace dj is not configured`.
    public let reason: String
}
